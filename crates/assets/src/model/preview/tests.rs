//! Previews of small scenes.

use super::*;
use crate::model::obj::tests::scene;
use proptest::prelude::*;

#[test]
fn a_preview_fills_its_frame_and_is_deterministic() {
    let picture = draw(&scene(), &|_| None);
    assert_eq!((picture.width, picture.height), (EDGE, EDGE));
    let pixels = picture.rgba();
    let opaque = |pixel: &&[u8; 4]| pixel[3] == 255;
    assert!(pixels.iter().filter(opaque).count() > 10_000);
    assert_eq!(pixels[0], [0; 4], "the corner is empty");
    assert_eq!(draw(&scene(), &|_| None), picture);
}

#[test]
fn on_a_map_a_unit_is_a_pixel_and_height_goes_up() {
    let mut scene = scene();
    // A wall that runs along x, and the ground in front of it.
    scene.meshes[0].points = vec![[0.0, 8.0, 0.0], [0.0, 0.0, 6.0], [3.0, 0.0, 6.0]];
    scene.nodes[0].transform = crate::model::Transform::at([-1.0, 0.0, 0.0]);
    let mut work = MAX_WORK;
    let on_map = draw_on_map(&scene, &|_| None, &mut work).unwrap();
    let size = (on_map.picture.width, on_map.picture.height);
    assert_eq!((size, on_map.origin), ((3, 10), [1, 4]));
    assert!(work < MAX_WORK);
    let is_drawn = |x: usize, y: usize| on_map.picture.rgba()[3 * y + x][3] > 127;
    assert!(is_drawn(0, 4) && !is_drawn(2, 4) && is_drawn(1, 8));
    scene.meshes[0].points[0] = [0.0, 1e9, 0.0];
    assert!(draw_on_map(&scene, &|_| None, &mut work).is_none());
    scene.meshes[0].parts.clear();
    assert!(draw_on_map(&scene, &|_| None, &mut work).is_none());
}

#[test]
fn hidden_meshes_are_drawn_only_if_there_are_no_others() {
    let plain = draw(&scene(), &|_| None);
    let mut both = scene();
    both.nodes.push(crate::model::scene::Node {
        name: "flare".into(),
        parent: None,
        transform: crate::model::Transform::at([90.0, 0.0, 0.0]),
        mesh: Some(0),
    });
    assert_ne!(draw(&both, &|_| None), plain);
    both.hidden = [1].into();
    assert_eq!(draw(&both, &|_| None), plain);
    let mut hidden = scene();
    hidden.hidden = [0].into();
    assert_eq!(draw(&hidden, &|_| None), plain);
}

#[test]
fn a_skinned_mesh_stands_where_its_joints_are() {
    let flat = draw(&scene(), &|_| None);
    let mut tall = scene();
    tall.nodes[0].transform.scale = [1.0, 4.0, 1.0];
    let mut skinned = scene();
    skinned.nodes.push(crate::model::scene::Node {
        name: "hip".into(),
        parent: None,
        transform: tall.nodes[0].transform,
        mesh: None,
    });
    let mut inverse_bind = [0.0; 16];
    for index in [0, 5, 10, 15] {
        inverse_bind[index] = 1.0;
    }
    skinned.joints = vec![crate::model::scene::Joint {
        node: 1,
        inverse_bind,
    }];
    let mut weights = crate::model::scene::Weights::default();
    weights[0].weight = 1.0;
    skinned.meshes[0].weights = vec![weights; 3];
    let expected = draw(&tall, &|_| None);
    assert_ne!(expected, flat);
    assert_eq!(draw(&skinned, &|_| None), expected);
}

#[test]
fn a_face_has_no_seams_where_bands_meet() {
    let mut scene = scene();
    // The triangle faces the viewer and fills the frame.
    scene.meshes[0].points = vec![[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 12.0, 0.0]];
    let pixels = draw(&scene, &|_| None).rgba();
    let edge = EDGE as usize;
    let column = |x: usize| (0..edge).map(move |y| y * edge + x);
    let opaque = |x: usize| column(x).filter(|&index| pixels[index][3] == 255);
    let middle = opaque(edge / 2);
    let (first, last) = (middle.clone().min().unwrap(), middle.clone().max().unwrap());
    let rows = (last - first) / edge + 1;
    assert!(rows > 2 * BAND / 2, "{rows}");
    assert_eq!(middle.count(), rows);
}

#[test]
fn nearer_faces_hide_farther_ones() {
    let mut scene = scene();
    scene.materials[0].color = [1.0, 0.0, 0.0, 1.0];
    scene.materials[1].color = [0.0, 0.0, 1.0, 1.0];
    for corner in &mut scene.meshes[0].corners {
        corner.color = [255; 4];
    }
    // The blue triangle, which comes last, is moved away.
    let behind = scene.meshes[0].points.clone();
    let away = behind
        .iter()
        .map(|[x, y, z]| [x - 0.62, y - 0.52, z - 0.86]);
    scene.meshes[0].points.extend(away.collect::<Vec<_>>());
    let corners = scene.meshes[0].corners.clone();
    let moved = corners.iter().map(|corner| crate::model::scene::Corner {
        point: corner.point + 3,
        ..*corner
    });
    scene.meshes[0].corners.extend(moved.collect::<Vec<_>>());
    scene.meshes[0].parts[1].triangles = vec![[3, 4, 5]];
    let colors = draw(&scene, &|_| None).rgba();
    assert!(colors.iter().any(|color| color[0] > 100));
    assert!(
        colors
            .iter()
            .all(|color| color[2] == 0 || color[0] == 0 || color[3] < 255)
    );
    assert!(!colors.iter().any(|color| color[2] > 100 && color[3] == 255));
}

proptest! {
    #[test]
    fn no_coordinates_make_it_panic(
        bits in proptest::collection::vec(any::<u32>(), 9),
        uvs in proptest::collection::vec(any::<u32>(), 6),
    ) {
        let mut scene = scene();
        for (point, bits) in scene.meshes[0].points.iter_mut().zip(bits.chunks(3)) {
            *point = std::array::from_fn(|axis| f32::from_bits(bits[axis]));
        }
        for (corner, bits) in scene.meshes[0].corners.iter_mut().zip(uvs.chunks(2)) {
            corner.uv = [0, 1].map(|axis| f32::from_bits(bits[axis]));
        }
        let picture = Picture { width: 1, height: 1, pixels: Pixels::Rgba(vec![[255; 4]]) };
        draw(&scene, &|_| Some(picture.clone()));
        let mut work = 1 << 20;
        draw_on_map(&scene, &|_| Some(picture.clone()), &mut work);
    }
}

#[test]
fn a_mesh_that_is_shown_very_often_is_drawn_in_bounded_memory_and_time() {
    let mut many = scene();
    let triangle = many.meshes[0].parts[0].triangles[0];
    let wrong = [u32::MAX; 3];
    // Triangles, and triangles without corners.
    for (triangles, most) in [([triangle; 64], MAX_FACES), ([wrong; 64], MAX_TRIED / 64)] {
        many.meshes[0].parts[0].triangles = triangles.to_vec();
        many.nodes
            .resize_with(1 << 16, || crate::model::scene::Node {
                name: String::new(),
                parent: None,
                transform: crate::model::Transform::IDENTITY,
                mesh: Some(0),
            });
        let faces = faces(&many, &View::of_preview());
        assert!((1..=most).contains(&faces.len()), "{}", faces.len());
        assert_eq!(memory(&many), MAX_FACES * (size_of::<Face>() + 8));
    }
}
