//! XML as a tree of elements. Text is ignored: Riivolution uses attributes only.

use hpimount_containers::io::{Error, Result};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Maximum length of a document in bytes.
const MAX_LENGTH: usize = 4 << 20;

/// Maximum nesting of elements.
const MAX_DEPTH: usize = 64;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    /// Offset after its tag, in bytes.
    pub(super) offset: u64,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
}

impl Element {
    /// Parses a document, and returns its root. Ignores anything after the last tag.
    pub(super) fn parse(document: &[u8]) -> Result<Self> {
        if document.len() > MAX_LENGTH {
            let problem = format!("has {} bytes, more than {MAX_LENGTH}", document.len());
            return Err(Error::damaged(0, "XML", problem));
        }
        let end = document.iter().rposition(|byte| *byte == b'>');
        let document = &document[..end.map_or(0, |end| end + 1)];
        let mut reader = Reader::from_reader(document);
        // The open elements, with the document itself.
        let mut open = vec![Self::default()];
        loop {
            let event = reader.read_event();
            let offset = reader.buffer_position();
            let damaged = |problem: String| Error::damaged(offset, "XML", problem);
            match event.map_err(|error| damaged(error.to_string()))? {
                Event::Start(tag) if open.len() <= MAX_DEPTH => {
                    open.push(Self::of(&tag, offset, &reader)?);
                }
                Event::Start(_) => {
                    return Err(damaged(format!("has more than {MAX_DEPTH} levels")));
                }
                Event::Empty(tag) => {
                    let element = Self::of(&tag, offset, &reader)?;
                    add(&mut open, element);
                }
                Event::End(_) => {
                    let element = open.pop();
                    element
                        .into_iter()
                        .for_each(|element| add(&mut open, element));
                }
                Event::DocType(_) => return Err(damaged("has a document type".to_owned())),
                Event::Eof => break,
                _ => {}
            }
        }
        let is_open = open.len() != 1;
        let root = open.pop().and_then(|mut document| document.children.pop());
        root.filter(|_| !is_open)
            .ok_or_else(|| Error::damaged(document.len() as u64, "XML", "ends too early"))
    }

    fn of(tag: &BytesStart<'_>, offset: u64, reader: &Reader<&[u8]>) -> Result<Self> {
        let damaged = |error: &dyn std::fmt::Display| {
            Error::damaged(offset, "XML", format!("a tag is not valid: {error}"))
        };
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| damaged(&error))?;
            let value =
                attribute.decoded_and_normalized_value(XmlVersion::Implicit1_0, reader.decoder());
            let value = value.map_err(|error| damaged(&error))?.into_owned();
            attributes.push((text(attribute.key.as_ref()), value));
        }
        Ok(Self {
            name: text(tag.name().as_ref()),
            offset,
            attributes,
            children: Vec::new(),
        })
    }

    /// Returns the children with this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| &**value)
    }

    /// Returns an attribute, or an empty text.
    pub(super) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Returns a number, decimal or with the prefix 0x; 0 if it is missing.
    pub(super) fn number(&self, name: &'static str) -> Result<u32> {
        let text = self.get(name).unwrap_or_default().trim();
        if text.is_empty() {
            return Ok(0);
        }
        let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
        let digits = hexadecimal.unwrap_or(text);
        let radix = if hexadecimal.is_some() { 16 } else { 10 };
        // Signs are no digits.
        let are_digits = digits.chars().all(|digit| digit.is_digit(radix));
        let number = u32::from_str_radix(digits, radix).ok();
        number
            .filter(|_| are_digits)
            .ok_or_else(|| Error::damaged(self.offset, name, "is not a number of 32 bits"))
    }

    /// Returns a flag.
    pub(super) fn flag(&self, name: &str, default: bool) -> bool {
        let is_true = |text: &str| text.starts_with(['1', 't', 'T', 'y', 'Y']);
        self.get(name).map_or(default, is_true)
    }
}

fn add(open: &mut [Element], element: Element) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(element);
    }
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_could_take_much_memory_are_refused() {
        let deep = "<a>".repeat(100) + &"</a>".repeat(100);
        let long = format!("<a b=\"{}\"/>", "x".repeat(MAX_LENGTH));
        let entities = "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><x y=\"&a;\"/>";
        for document in [&*deep, &long, entities, "<a y=\"&a;\"/>"] {
            Element::parse(document.as_bytes()).unwrap_err();
        }
    }

    #[test]
    fn documents_that_end_early_are_damaged_and_words_after_the_end_are_ignored() {
        for document in ["", "<a", "<a>", "<a><b></a>", "words"] {
            Element::parse(document.as_bytes()).unwrap_err();
        }
        let root =
            Element::parse(b"<?xml version=\"1.0\"?><a b=\"c&amp;d\"><e/></a> words").unwrap();
        assert_eq!((root.get("b"), root.children.len()), (Some("c&d"), 1));
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        let of = |text: &str| {
            let document = format!("<a n=\"{text}\"/>");
            Element::parse(document.as_bytes())
                .unwrap()
                .number("n")
                .ok()
        };
        assert_eq!(of("12"), Some(12));
        assert_eq!(of(" 0xfF "), Some(255));
        assert_eq!(of(""), Some(0));
        assert_eq!(of("4294967295"), Some(u32::MAX));
        for text in ["-1", "+1", "4294967296", "0x", "0x100000000", "1a"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
