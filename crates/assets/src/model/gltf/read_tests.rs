use std::cell::RefCell;

use serde_json::{Value, json};

use super::{pack, read, write};
use crate::model::obj::tests::scene;
use crate::model::scene::Node;
use crate::model::{CORNER_BYTES, Scene, Transform};

/// Returns the GLB file of two triangles with a changed JSON part.
fn with_json(edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut file = Vec::new();
    write(&scene(), &|_| None, &|_| Ok(None), &mut file).unwrap();
    fixtures::glb_with_json(&file, edit)
}

fn refused(edit: impl FnOnce(&mut Value)) -> String {
    read(&with_json(edit), &|_| Ok(None)).err().unwrap()
}

#[test]
fn a_whole_file_is_read() {
    let edited = read(&with_json(|_| ()), &|_| Ok(None)).unwrap();
    assert_eq!(edited.scene.nodes[0].name, "my house");
    assert_eq!(edited.scene.meshes[0].triangles(), 2);
    assert_eq!(edited.scene.meshes[0].points.len(), 3);
    assert!(edited.uncolored.is_empty() && !edited.is_flat);
}

#[test]
fn the_matrix_of_a_node_is_its_transformation_and_shear_is_refused() {
    let node = |matrix: [f32; 16]| {
        with_json(|json| {
            let node = json["nodes"][0].as_object_mut().unwrap();
            node.retain(|key, _| !["translation", "rotation", "scale"].contains(&key.as_str()));
            node.insert("matrix".to_owned(), json!(matrix));
        })
    };
    let mut matrix = [0.0; 16];
    // A quarter around z, and a scale.
    (matrix[1], matrix[4], matrix[10]) = (200.0, -300.0, 0.5);
    matrix[12..].copy_from_slice(&[1.0, 2.0, 3.0, 1.0]);
    let edited = read(&node(matrix), &|_| Ok(None)).unwrap();
    let transform = edited.scene.nodes[0].transform;
    assert_eq!(transform.scale, [200.0, 300.0, 0.5]);
    assert_eq!(
        transform.apply([1.0, 0.0, 0.0]).map(f32::round),
        [1.0, 202.0, 3.0]
    );
    matrix[4] = 100.0;
    matrix[5] = 300.0;
    let error = read(&node(matrix), &|_| Ok(None)).err().unwrap();
    assert_eq!(
        error,
        "the matrix of node \"my house\" has shear, which cannot be stored: apply the transformation to the mesh"
    );
}

#[test]
fn primitives_without_triangles_are_no_parts() {
    let file = with_json(|json| {
        let count = json["accessors"].as_array().unwrap().len();
        let mut empty = json["accessors"][0].clone();
        empty["count"] = json!(2);
        json["accessors"].as_array_mut().unwrap().push(empty);
        let primitives = json["meshes"][0]["primitives"].as_array_mut().unwrap();
        primitives.push(json!({"attributes": {"POSITION": count}, "material": 1}));
    });
    let edited = read(&file, &|_| Ok(None)).unwrap();
    assert_eq!(edited.scene.meshes[0].parts.len(), 2);
}

#[test]
fn what_is_not_in_the_file_is_refused() {
    let error = refused(|json| json["accessors"][0]["count"] = json!(1_000_000));
    assert_eq!(error, "accessor 0 is past its buffer");
    let error = refused(|json| json["accessors"][0]["bufferView"] = json!(99));
    assert_eq!(error, "buffer view 99 is missing");
    let error = refused(|json| json["bufferViews"][0]["byteLength"] = json!(u64::MAX));
    assert_eq!(error, "buffer view 0 is past its buffer");
    let error = refused(|json| json["buffers"][0]["uri"] = json!("x.bin"));
    assert!(
        error.starts_with("has its buffer in another file"),
        "{error}"
    );
    let error = refused(|json| json["meshes"][0]["primitives"][0]["material"] = json!(7));
    assert_eq!(error, "mesh 0 has material 7 of 2");
    let error = refused(|json| json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]));
    assert!(error.contains("KHR_draco_mesh_compression"), "{error}");
    let error = refused(|json| json["accessors"][0]["type"] = json!("VEC2"));
    assert_eq!(error, "accessor 0 is Vec2, must be Vec3");
}

#[test]
fn nodes_are_a_tree_of_a_bounded_number() {
    let error = refused(|json| json["nodes"][0]["children"] = json!([0]));
    assert_eq!(error, "has a node that is above itself");
    let error = refused(|json| json["nodes"][0]["children"] = json!([5]));
    assert_eq!(error, "node 5 is missing");
    let error = refused(|json| {
        json["nodes"] = json!([{"children": [2]}, {"children": [2]}, {}]);
    });
    assert_eq!(error, "node 2 has two parents");
    let error = refused(|json| json["nodes"] = json!(vec![json!({}); 65_537]));
    assert_eq!(error, "has 65537 nodes, more than 65536");
}

#[test]
fn memory_is_reserved_before_a_model_is_decoded() {
    let file = with_json(|_| ());
    let refuse = |_| Err(std::io::Error::other("no memory"));
    assert_eq!(read(&file, &refuse).err().unwrap(), "no memory");
    let count = (1 << 20) + 1;
    let root = json!({
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"byteLength": 12 * count}],
        "bufferViews": [{"buffer": 0, "byteLength": 12 * count}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": count}],
    });
    let root: gltf_json::Root = serde_json::from_value(root).unwrap();
    let mut out = Vec::new();
    pack(&root, &vec![0; 12 * count], &mut out).unwrap();
    let error = read(&out, &|_| Ok(None)).err().unwrap();
    assert!(error.contains("vertices"), "{error}");
}

/// Returns the reservations for parsing a file, and for its scene.
fn reserved(file: &[u8]) -> [usize; 2] {
    let sizes = RefCell::new(Vec::new());
    let reserve = |bytes| {
        sizes.borrow_mut().push(bytes);
        Ok(None)
    };
    read(file, &reserve).unwrap();
    sizes.into_inner().try_into().unwrap()
}

#[test]
fn memory_is_reserved_for_triangles_without_indices_and_of_strips() {
    for (mode, corners) in [(4, 3), (5, 9), (6, 9)] {
        for is_indexed in [true, false] {
            let file = with_json(|json| {
                let mut primitive = json["meshes"][0]["primitives"][0].clone();
                primitive["mode"] = json!(mode);
                if !is_indexed {
                    primitive.as_object_mut().unwrap().remove("indices");
                }
                json["meshes"][0]["primitives"] = json!(vec![primitive; 100]);
            });
            let expected = 3 * CORNER_BYTES + 100 * corners * size_of::<u32>();
            assert_eq!(reserved(&file)[1], expected, "{mode} {is_indexed}");
        }
    }
}

#[test]
fn attributes_have_a_value_for_each_vertex_and_more_are_not_read() {
    let file = with_json(|json| {
        let number = json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64();
        json["accessors"][number.unwrap() as usize]["count"] = json!(2);
        for primitive in json["meshes"][0]["primitives"].as_array_mut().unwrap() {
            primitive.as_object_mut().unwrap().remove("indices");
        }
    });
    assert!(read(&file, &|_| Ok(None)).unwrap().scene.meshes.is_empty());
    let error = refused(|json| {
        let number = json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"].as_u64();
        json["accessors"][number.unwrap() as usize]["count"] = json!(2);
    });
    assert!(error.ends_with("has 2 elements, must have 3"), "{error}");
}

#[test]
fn memory_is_reserved_for_json_and_suffices_for_many_nodes() {
    let node = |number: usize| Node {
        name: format!("crate {number}"),
        parent: None,
        transform: Transform {
            translation: [1.25; 3],
            rotation: [0.1, 0.7, 0.1, 0.7],
            scale: [1.5; 3],
        },
        mesh: Some(0),
    };
    let many = Scene {
        nodes: (0..65_536).map(node).collect(),
        ..scene()
    };
    let mut file = Vec::new();
    write(&many, &|_| None, &|_| Ok(None), &mut file).unwrap();
    let [parsing, _] = reserved(&file);
    assert!(parsing < 64 << 20, "{parsing}");
    for (extra, least) in [(json!({}), 304), (json!(0), 30)] {
        let file = with_json(|json| json["extensions"] = json!({"ANY": vec![extra; 1 << 16]}));
        let [parsing, _] = reserved(&file);
        assert!(parsing > least << 16, "{parsing}");
    }
}

#[test]
fn cut_files_are_refused() {
    let file = with_json(|_| ());
    for length in 0..file.len() {
        assert!(read(&file[..length], &|_| Ok(None)).is_err(), "{length}");
    }
    let mut out = Vec::new();
    pack(&gltf_json::Root::default(), &[], &mut out).unwrap();
    assert!(read(&out, &|_| Ok(None)).unwrap().scene.nodes.is_empty());
}
