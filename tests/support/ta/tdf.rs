//! TDF files (9).

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    Key(String, String),
    Section(String, Vec<Item>),
}

pub fn key(name: &str, value: &str) -> Item {
    Item::Key(name.to_owned(), value.to_owned())
}

pub fn section(name: &str, items: Vec<Item>) -> Item {
    Item::Section(name.to_owned(), items)
}

/// Returns a whole file of ASCII text.
pub fn file(items: &[Item]) -> Vec<u8> {
    let mut text = String::new();
    write(&mut text, items, 0);
    text.into_bytes()
}

fn write(text: &mut String, items: &[Item], depth: usize) {
    let indent = "\t".repeat(depth);
    for item in items {
        match item {
            Item::Key(name, value) => *text += &format!("{indent}{name}={value};\r\n"),
            Item::Section(name, items) => {
                *text += &format!("{indent}[{name}]\r\n{indent}{{\r\n");
                write(text, items, depth + 1);
                *text += &format!("{indent}}}\r\n");
            }
        }
    }
}
