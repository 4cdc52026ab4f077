//! BVH: a skeleton and its motion, as used by motion capture programs.

use std::io::{self, Write};

use super::Scene;
use super::math::{Transform, asin, atan2, rows};
use super::scene::{Animation, Node};

/// Maximum depth for the indentation of a joint's line, which keeps the size of the
/// text proportional to the skeleton.
const MAX_INDENT: usize = 64;

/// Name of the common root of several skeletons.
const COMMON_ROOT: &str = "skeleton";

/// Writes the joints of a scene and one of its animations. Every joint has six
/// channels: translation, and angles about z, x and y, in this order. BVH has
/// no comments, so the notes of the scene are omitted.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(scene: &Scene<'_>, animation: &Animation<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"HIERARCHY\n")?;
    let order = hierarchy(scene, out)?;
    motion(scene, animation, &order, out)
}

/// A step of the traversal of the joints.
enum Step {
    Enter(usize),
    Leave,
}

/// Writes the joints. Returns their nodes in the order of the text, with `None` for the
/// common root.
fn hierarchy(scene: &Scene<'_>, out: &mut dyn Write) -> io::Result<Vec<Option<usize>>> {
    let mut is_joint = vec![false; scene.nodes.len()];
    for joint in &scene.joints {
        if let Some(flag) = is_joint.get_mut(joint.node) {
            *flag = true;
        }
    }
    let (mut children, mut roots) = scene.children();
    for list in children.iter_mut().chain([&mut roots]) {
        list.retain(|&node| is_joint[node]);
        list.reverse();
    }
    let offsets = scene.joints.iter().filter_map(|joint| {
        let node = scene.nodes.get(joint.node)?;
        node.parent.map(|_| length(node.transform.translation))
    });
    let longest = offsets.fold(0.0, f32::max);
    let (mut order, mut depth) = (Vec::new(), 0);
    let has_common_root = roots.len() != 1;
    if has_common_root {
        open(out, "ROOT", COMMON_ROOT, [0.0; 3], depth)?;
        order.push(None);
        depth += 1;
    }
    let mut steps: Vec<Step> = roots.into_iter().map(Step::Enter).collect();
    while let Some(step) = steps.pop() {
        let Step::Enter(index) = step else {
            depth -= 1;
            indented(out, depth, "}")?;
            continue;
        };
        let node = &scene.nodes[index];
        let word = if depth == 0 { "ROOT" } else { "JOINT" };
        let offset = node.transform.translation;
        open(out, word, &name(node), offset, depth)?;
        order.push(Some(index));
        depth += 1;
        steps.push(Step::Leave);
        if children[index].is_empty() {
            let [x, y, z] = end_site(offset, longest);
            indented(out, depth, "End Site")?;
            indented(out, depth, "{")?;
            indented(out, depth + 1, &format!("OFFSET {x} {y} {z}"))?;
            indented(out, depth, "}")?;
        }
        steps.extend(children[index].iter().map(|&child| Step::Enter(child)));
    }
    if has_common_root {
        indented(out, 0, "}")?;
    }
    Ok(order)
}

fn open(
    out: &mut dyn Write,
    word: &str,
    name: &str,
    offset: [f32; 3],
    depth: usize,
) -> io::Result<()> {
    let [x, y, z] = offset;
    indented(out, depth, &format!("{word} {name}"))?;
    indented(out, depth, "{")?;
    indented(out, depth + 1, &format!("OFFSET {x} {y} {z}"))?;
    let channels = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    indented(out, depth + 1, channels)
}

fn indented(out: &mut dyn Write, depth: usize, line: &str) -> io::Result<()> {
    let width = 2 * depth.min(MAX_INDENT);
    writeln!(out, "{:width$}{line}", "")
}

/// Returns the name of a node without whitespace, which would end the name.
fn name(node: &Node) -> String {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    node.name.replace(is_blank, "_")
}

/// Returns the end of the bone of a joint without children, relative to the joint: half
/// of the joint's offset. Importers fail on bones of length 0, so a joint at its
/// parent's position gets a bone that points up.
fn end_site(offset: [f32; 3], longest: f32) -> [f32; 3] {
    if length(offset) > 0.0 {
        return offset.map(|part| part / 2.0);
    }
    [0.0, if longest > 0.0 { longest / 10.0 } else { 1.0 }, 0.0]
}

fn length(vector: [f32; 3]) -> f32 {
    vector.iter().map(|part| part * part).sum::<f32>().sqrt()
}

fn motion(
    scene: &Scene<'_>,
    animation: &Animation<'_>,
    order: &[Option<usize>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let Animation {
        frames, interval, ..
    } = *animation;
    writeln!(out, "MOTION\nFrames: {frames}\nFrame Time: {interval}")?;
    for frame in 0..frames {
        for (position, node) in order.iter().enumerate() {
            let transform = node.map_or(Transform::IDENTITY, |node| {
                if animation.nodes.contains(&node) {
                    (animation.transform)(frame, node)
                } else {
                    scene.nodes[node].transform
                }
            });
            let ([x, y, z], [rz, rx, ry]) = (transform.translation, angles(transform.rotation));
            let blank = if position == 0 { "" } else { " " };
            write!(out, "{blank}{x} {y} {z} {rz:.4} {rx:.4} {ry:.4}")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Returns the angles in degrees about z, x and y whose product is the rotation
/// of a quaternion.
fn angles(rotation: [f32; 4]) -> [f32; 3] {
    let m = rows(rotation);
    let sine = m[2][1].clamp(-1.0, 1.0);
    // Gimbal lock: z and y rotate about the same axis.
    let (z, y) = if sine.abs() > 0.999_999 {
        (atan2(m[1][0], m[0][0]), 0.0)
    } else {
        (atan2(-m[0][1], m[1][1]), atan2(-m[2][0], m[2][2]))
    };
    [z, asin(sine), y].map(|angle| angle.to_degrees() + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::math::{product, quaternion, sin_cos};
    use crate::model::scene::Joint;
    use proptest::prelude::*;

    fn node(name: &str, parent: Option<usize>) -> Node {
        Node {
            name: name.into(),
            parent,
            transform: Transform::at([0.0, 2.0, 0.0]),
            mesh: None,
        }
    }

    fn skeleton(nodes: Vec<Node>) -> Scene<'static> {
        let joint = |node| Joint {
            node,
            inverse_bind: [0.0; 16],
        };
        Scene {
            joints: (0..nodes.len()).map(joint).collect(),
            nodes,
            ..Scene::default()
        }
    }

    fn written(scene: &Scene<'_>, animation: &Animation<'_>) -> String {
        let mut bytes = Vec::new();
        write(scene, animation, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn animation(node: usize) -> Animation<'static> {
        Animation {
            name: "walk".into(),
            interval: 0.1,
            frames: 2,
            nodes: node..node + 1,
            transform: Box::new(|frame, _| Transform::at([1.0 + frame as f32, 0.0, 0.0])),
        }
    }

    #[test]
    fn joints_are_nested_in_their_parents() {
        let scene = skeleton(vec![
            node("left arm", Some(1)),
            node("hip", None),
            node("leg", Some(1)),
        ]);
        let text = written(&scene, &animation(2));
        let words: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("CHANNELS") && !line.starts_with("OFFSET"))
            .collect();
        assert_eq!(
            words[..14],
            [
                "HIERARCHY",
                "ROOT hip",
                "{",
                "JOINT left_arm",
                "{",
                "End Site",
                "{",
                "}",
                "}",
                "JOINT leg",
                "{",
                "End Site",
                "{",
                "}"
            ]
        );
        assert_eq!(words[16..19], ["MOTION", "Frames: 2", "Frame Time: 0.1"]);
        let last: Vec<&str> = words[20].split(' ').collect();
        assert_eq!(last.len(), 18);
        assert_eq!(last[12], "2");
    }

    #[test]
    fn bones_at_the_end_have_a_length() {
        let mut scene = skeleton(vec![node("hip", None), node("leg", Some(0))]);
        let text = written(&scene, &animation(0));
        assert!(
            text.contains("End Site\n    {\n      OFFSET 0 1 0\n"),
            "{text}"
        );
        scene.nodes[1].transform = Transform::IDENTITY;
        let text = written(&scene, &animation(0));
        assert!(text.contains("      OFFSET 0 1 0\n"), "{text}");
        assert_eq!(end_site([0.0; 3], 5.0), [0.0, 0.5, 0.0]);
    }

    #[test]
    fn several_roots_get_a_common_one() {
        let scene = skeleton(vec![node("a", None), node("b", None)]);
        let text = written(&scene, &animation(0));
        assert_eq!(text.matches("ROOT ").count(), 1);
        assert_eq!(text.matches("JOINT ").count(), 2);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert_eq!(text.lines().last().unwrap().split(' ').count(), 18);
    }

    fn about(axis: usize, degrees: f32) -> [[f32; 3]; 3] {
        let half = degrees.to_radians() / 2.0;
        let (sine, cosine) = sin_cos(half);
        let mut q = [0.0, 0.0, 0.0, cosine];
        q[axis] = sine;
        rows(q)
    }

    proptest! {
        #[test]
        fn the_angles_are_the_rotation_of_the_quaternion(
            z in -180.0_f32..180.0, x in -90.0_f32..90.0, y in -180.0_f32..180.0,
        ) {
            let turn = |[z, x, y]: [f32; 3]| product(about(2, z), product(about(0, x), about(1, y)));
            let expected = turn([z, x, y]);
            let found = turn(angles(quaternion(expected)));
            let close = expected.as_flattened().iter().zip(found.as_flattened());
            for (a, b) in close {
                prop_assert!((a - b).abs() < 4e-3, "{expected:?} {found:?}");
            }
        }
    }
}
