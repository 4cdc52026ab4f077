//! Vehicles in previews: painted, and with all wheels.

use hpimount_assets::model::Scene;
use hpimount_assets::model::Transform;
use hpimount_assets::model::scene::{Material, Node};

/// Placeholder colors for the paints of a vehicle.
const PAINTS: [[u8; 3]; 4] = [[60, 255, 0], [255, 0, 175], [0, 255, 255], [255, 0, 255]];

/// The colors that stand for its lights.
const LIGHTS: [[u8; 3]; 4] = [[255, 175, 0], [0, 255, 200], [185, 255, 0], [255, 60, 0]];

/// Maximum number of wheels.
const MAX_WHEELS: usize = 16;

/// The color of an unknown paint.
const GRAY: [u8; 3] = [160; 3];

/// Arranges the scene of a model for its preview. `paints` are the paints of a
/// vehicle.
pub(super) fn arrange(scene: &mut Scene<'_>, paints: &[[u8; 3]]) {
    let dummies = 0..scene.nodes.len();
    let dummies = dummies.filter(|&node| is_wheel_dummy(&scene.nodes[node].name));
    let dummies: Vec<usize> = dummies.take(MAX_WHEELS).collect();
    if dummies.is_empty() {
        return;
    }
    add_wheels(scene, &dummies);
    for material in &mut scene.materials {
        repaint(material, paints);
    }
}

/// Returns whether frames with this name hold a wheel, such as `wheel_lf_dummy`.
fn is_wheel_dummy(name: &str) -> bool {
    let name = name.trim_end().to_ascii_lowercase();
    name.starts_with("wheel_") && name.ends_with("_dummy")
}

/// Returns whether a frame of a wheel is on the left.
fn is_left(name: &str) -> bool {
    name.as_bytes()
        .get("wheel_".len())
        .is_some_and(|side| side.eq_ignore_ascii_case(&b'l'))
}

/// Shows the first wheel at all wheel frames, mirrored on the other side.
fn add_wheels(scene: &mut Scene<'_>, dummies: &[usize]) {
    let place_of = |(index, node): (usize, &Node)| {
        let parent = node.parent.filter(|parent| dummies.contains(parent));
        let own = Some(index).filter(|index| dummies.contains(index));
        Some((parent.or(own)?, index, node.mesh?))
    };
    let nodes = scene.nodes.iter().enumerate();
    let placed: Vec<_> = nodes.filter_map(place_of).collect();
    let Some(&(from, wheel, mesh)) = placed.first() else {
        return;
    };
    let transform = match wheel == from {
        true => Transform::IDENTITY,
        false => scene.nodes[wheel].transform,
    };
    let side = is_left(&scene.nodes[from].name);
    for &dummy in dummies {
        if placed.iter().any(|&(place, ..)| place == dummy) {
            continue;
        }
        let mut turn = Transform::IDENTITY;
        if is_left(&scene.nodes[dummy].name) != side {
            turn.rotation = [0.0, 0.0, 1.0, 0.0];
        }
        let above = scene.nodes.len();
        for (parent, transform, mesh) in [(dummy, turn, None), (above, transform, Some(mesh))] {
            scene.nodes.push(Node {
                name: "wheel".to_owned(),
                parent: Some(parent),
                transform,
                mesh,
            });
        }
    }
}

/// Replaces a placeholder color by its paint, and the placeholder of a light by white.
fn repaint(material: &mut Material, paints: &[[u8; 3]]) {
    let [red, green, blue, _] = material.color.map(|part| (part * 255.0).round() as u8);
    let color = [red, green, blue];
    let paint = PAINTS.iter().position(|key| *key == color);
    let paint = paint.map(|number| paints.get(number).copied().unwrap_or(GRAY));
    let light = LIGHTS.contains(&color).then_some([255; 3]);
    if let Some(paint) = paint.or(light) {
        let parts = material.color.iter_mut().zip(paint);
        parts.for_each(|(part, paint)| *part = f32::from(paint) / 255.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, parent: Option<usize>, mesh: Option<usize>) -> Node {
        Node {
            name: name.to_owned(),
            parent,
            transform: Transform::IDENTITY,
            mesh,
        }
    }

    #[test]
    fn a_vehicle_is_painted_and_has_all_wheels() {
        let colored = |color: [u8; 3]| {
            let [red, green, blue] = color.map(|part| f32::from(part) / 255.0);
            Material {
                color: [red, green, blue, 1.0],
                ..Material::plain()
            }
        };
        let colors = [PAINTS[0], PAINTS[1], LIGHTS[0], [1, 2, 3]];
        let mut scene = Scene {
            materials: colors.map(colored).into(),
            nodes: vec![
                node("car", None, None),
                node("wheel_rf_dummy", Some(0), None),
                node("wheel", Some(1), Some(7)),
                node("Wheel_LF_dummy", Some(0), None),
                node("wheel_rb_dummy ", Some(0), None),
            ],
            ..Scene::default()
        };
        arrange(&mut scene, &[[9, 8, 7]]);
        let colors = scene.materials.iter();
        let colors: Vec<_> = colors
            .map(|one| one.color.map(|part| (part * 255.0).round() as u8))
            .collect();
        let expected = [[9, 8, 7], GRAY, [255; 3], [1, 2, 3]];
        assert_eq!(colors, expected.map(|[r, g, b]| [r, g, b, 255]));
        let wheels: Vec<_> = (0..)
            .zip(&scene.nodes)
            .filter(|(_, one)| one.mesh.is_some())
            .collect();
        let outer = |node: usize| scene.point(node, [1.0, 0.0, 0.0])[0].round();
        let outer: Vec<_> = wheels.iter().map(|(node, _)| outer(*node)).collect();
        assert_eq!(outer, [1.0, -1.0, 1.0]);
    }

    #[test]
    fn a_vehicle_has_a_bounded_number_of_wheels() {
        let mut nodes = vec![node("wheel_lf_dummy", None, Some(0))];
        nodes.resize_with(1 << 16, || node("wheel_rf_dummy", None, None));
        let mut scene = Scene {
            nodes,
            ..Scene::default()
        };
        arrange(&mut scene, &[]);
        let wheels = scene.nodes.iter().filter(|node| node.mesh.is_some());
        assert_eq!(wheels.count(), MAX_WHEELS);
    }
}
