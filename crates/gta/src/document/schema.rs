//! The sections of maps, and the fields of their rows. The number of fields of a row
//! distinguishes the forms of a section (FORMATS, GTA 6.2 and 6.3).

use std::str::Split;

/// The names of a form's fields, separated by single spaces.
type Form = &'static str;

/// The names of the fields of a row.
pub type Columns = Split<'static, char>;

/// The sections of a kind of file.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// The names of sections, and the forms of their rows.
    sections: &'static [(&'static str, &'static [Form])],
    /// Sections whose fields have no names.
    others: &'static [&'static str],
}

impl Schema {
    /// Creates a schema of sections with named fields, each form given as names
    /// separated by single spaces, and of other sections.
    pub(crate) const fn new(
        sections: &'static [(&'static str, &'static [&'static str])],
        others: &'static [&'static str],
    ) -> Self {
        Self { sections, others }
    }

    /// Returns the forms of a section's rows, or `None` if its fields have no names.
    fn forms(&self, section: &str) -> Option<&'static [Form]> {
        let mut sections = self.sections.iter();
        let found = sections.find(|(name, _)| *name == section);
        found.map(|(_, forms)| *forms)
    }

    /// Returns whether the fields of a section have names.
    pub fn has(&self, section: &str) -> bool {
        self.forms(section).is_some()
    }

    /// Returns whether a section exists.
    pub fn knows(&self, section: &str) -> bool {
        self.has(section) || self.others.contains(&section)
    }

    /// Returns the field names of all forms of a section: first the longest form, in
    /// order, then further names.
    pub fn all_columns(&self, section: &str) -> Vec<&'static str> {
        let forms = self.forms(section).unwrap_or_default().iter();
        let mut forms: Vec<_> = forms.map(|form| form.split(' ')).collect();
        forms.sort_by_cached_key(|form| std::cmp::Reverse(form.clone().count()));
        let mut columns = Vec::new();
        for name in forms.into_iter().flatten() {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        columns
    }

    /// Returns the field names of the form with exactly these fields.
    pub(crate) fn form(&self, section: &str, names: &[&str]) -> Option<Columns> {
        let mut forms = self.forms(section)?.iter().map(|form| form.split(' '));
        forms.find(|form| {
            form.clone().count() == names.len() && form.clone().all(|name| names.contains(&name))
        })
    }

    /// Returns the field names of a row with this number of fields.
    pub fn columns(&self, section: &str, fields: usize) -> Option<Columns> {
        let mut forms = self.forms(section)?.iter().map(|form| form.split(' '));
        forms.find(|form| form.clone().count() == fields)
    }
}

/// Definitions of models.
pub const IDE: Schema = Schema {
    sections: &[
        (
            "objs",
            &[
                "id model txd draw1 flags",
                "id model txd meshes draw1 flags",
                "id model txd meshes draw1 draw2 flags",
                "id model txd meshes draw1 draw2 draw3 flags",
            ],
        ),
        ("anim", &["id model txd anim draw1 flags"]),
        (
            "weap",
            &[
                "id model txd anim weapon draw1",
                "id model txd anim weapon draw1 flags",
            ],
        ),
        ("hier", &["id model txd", "id model txd anim draw1"]),
        ("txdp", &["txd parent"]),
        (
            "cars",
            &[
                "id model txd type handling name anims class frequency flags components \
                 wheel wheel_front wheel_rear wheel_upgrade",
                "id model txd type handling name anims class frequency flags components \
                 wheel wheel_front wheel_rear",
                "id model txd type handling name anims class frequency flags components",
                "id model txd type handling name anims class frequency level components \
                 wheel wheel_scale",
                "id model txd type handling name class frequency level components wheel \
                 wheel_scale",
                "id model txd type handling name class frequency level components",
            ],
        ),
        (
            "peds",
            &[
                "id model txd type stat anim_group cars flags anim radio1 radio2 \
                 voice_type voice_min voice_max",
                "id model txd type stat anim_group cars anim radio1 radio2",
                "id model txd type stat anim_group cars",
            ],
        ),
        (
            "tobj",
            &[
                "id model txd draw1 flags time_on time_off",
                "id model txd meshes draw1 flags time_on time_off",
                "id model txd meshes draw1 draw2 flags time_on time_off",
                "id model txd meshes draw1 draw2 draw3 flags time_on time_off",
            ],
        ),
    ],
    others: &["2dfx", "hand", "path", "tanm", "tree"],
};

/// Placements, zones and others.
pub const IPL: Schema = Schema {
    sections: &[
        (
            "inst",
            &[
                "id model x y z sx sy sz rx ry rz rw",
                "id model interior x y z sx sy sz rx ry rz rw",
                "id model interior x y z rx ry rz rw lod",
            ],
        ),
        (
            "zone",
            &[
                "name type x1 y1 z1 x2 y2 z2 island text",
                "name type x1 y1 z1 x2 y2 z2 island",
            ],
        ),
        (
            "cull",
            &[
                "x y z skew_x length bottom width skew_y top flags flags2",
                "x y z skew_x length bottom width skew_y top flags mx my mz mirror",
            ],
        ),
        ("pick", &["weapon x y z"]),
        (
            "cars",
            &["x y z angle model color1 color2 force alarm locked min_delay max_delay"],
        ),
        ("grge", &["x y z front_x front_y x2 y2 z2 door type name"]),
        (
            "enex",
            &[
                "x y z angle width length height exit_x exit_y exit_z exit_angle area \
                 flags name sky peds time_on time_off",
            ],
        ),
        (
            "jump",
            &[
                "start_x1 start_y1 start_z1 start_x2 start_y2 start_z2 land_x1 land_y1 \
                 land_z1 land_x2 land_y2 land_z2 camera_x camera_y camera_z reward",
            ],
        ),
        (
            "occl",
            &[
                "x y bottom width length height rz ry rx flags",
                "x y bottom width length height rz",
            ],
        ),
        (
            "tcyc",
            &[
                "x1 y1 z1 x2 y2 z2 far_clip color intensity",
                "x1 y1 z1 x2 y2 z2 far_clip color intensity falloff",
                "x1 y1 z1 x2 y2 z2 far_clip color intensity falloff unused",
                "x1 y1 z1 x2 y2 z2 far_clip color intensity falloff unused lod",
            ],
        ),
        (
            "auzo",
            &["name id on x1 y1 z1 x2 y2 z2", "name id on x y z radius"],
        ),
    ],
    others: &[
        "link", "lodm", "mapz", "mlo", "mult", "path", "slow", "vnod",
    ],
};
