//! `#[derive(Record)]`: see the crate `hpimount-record`.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Lit, LitStr, Meta, Result, Type};

/// Derives a record for a structure with named fields, which are stored in this order
/// without gaps.
///
/// The first sentence of a field's documentation describes it in tables of
/// fields. `#[record(…)]` on a field takes
/// * `name = "…"`: the name under which it is shown, if it is not the field's own;
/// * `derived`: a count, size or offset that the writer computes; cannot be edited;
/// * `json`: shown in JSON, without columns in tables;
/// * `parts = "r g b"`: the names of the columns of an array.
///
/// The derive adds a test, which reads records from random bytes, shows, sets and writes
/// them, and expects the same bytes. `#[record(table = "…")]` on the structure names a
/// Markdown file, relative to the folder of the crate. Another test compares its table of
/// fields after a comment `<!-- Name -->` with the structure.
#[proc_macro_derive(Record, attributes(record))]
pub fn derive_record(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    let expanded = expand(&input).unwrap_or_else(|error| error.to_compile_error());
    expanded.into()
}

/// The arguments of `#[record(…)]` on a field.
#[derive(Default)]
struct Arguments {
    name: Option<String>,
    is_derived: bool,
    is_json_only: bool,
    parts: Vec<String>,
}

fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let fields = named_fields(input)?;
    let mut members = Vec::new();
    let (mut shared, mut unique, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (index, field) in fields.iter().enumerate() {
        let ident = field.ident.as_ref().expect("the fields are named");
        let arguments = Arguments::of(&field.attrs)?;
        members.push(member(name, ident, &field.ty, &field.attrs, &arguments));
        let index = Literal::usize_unsuffixed(index);
        let span = field.ty.span();
        let field_type = &field.ty;
        shared.push(quote_spanned!(span=> #index => &self.#ident,));
        unique.push(quote_spanned!(span=> #index => &mut self.#ident,));
        sizes.push(quote!(<#field_type as ::hpimount_record::FixedSize>::SIZE));
    }
    let test = format_ident!(
        "the_record_{}_is_written_as_it_was_read",
        snake(&name.to_string())
    );
    let label = name.to_string();
    let table_test = table_file(&input.attrs)?.map(|path| table_test(name, &path));
    Ok(quote! {
        #[automatically_derived]
        impl ::hpimount_record::Record for #name {
            fn description(&self) -> &'static ::hpimount_record::Description {
                const DESCRIPTION: ::hpimount_record::Description =
                    ::hpimount_record::Description {
                        name: #label,
                        members: &[#(#members),*],
                    };
                &DESCRIPTION
            }

            fn field(&self, index: usize) -> &dyn ::hpimount_record::Field {
                match index {
                    #(#shared)*
                    _ => unreachable!("a record has no other fields"),
                }
            }

            fn field_mut(&mut self, index: usize) -> &mut dyn ::hpimount_record::Field {
                match index {
                    #(#unique)*
                    _ => unreachable!("a record has no other fields"),
                }
            }
        }

        impl ::hpimount_record::FixedSize for #name {
            const SIZE: usize = 0 #(+ #sizes)*;
        }

        #[cfg(test)]
        #[test]
        fn #test() {
            ::hpimount_record::check_ways_back::<#name>();
        }

        #table_test
    })
}

/// Returns a test of the table of fields in a Markdown file.
fn table_test(name: &syn::Ident, path: &str) -> TokenStream {
    let test = format_ident!("the_table_of_{}_has_its_fields", snake(&name.to_string()));
    quote! {
        #[cfg(test)]
        #[test]
        fn #test() {
            let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #path));
            ::hpimount_record::check_table(&#name::default(), #path, text);
        }
    }
}

fn named_fields(input: &DeriveInput) -> Result<&Fields> {
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) => Ok(&data.fields),
        _ => Err(Error::new_spanned(
            &input.ident,
            "a record is a structure with named fields",
        )),
    }
}

/// Returns the description of a field.
fn member(
    record: &syn::Ident,
    ident: &syn::Ident,
    field_type: &Type,
    attributes: &[Attribute],
    arguments: &Arguments,
) -> TokenStream {
    let name = arguments.name.clone().unwrap_or_else(|| ident.to_string());
    let label = format!("{record}.{name}");
    let doc = documentation(attributes);
    // The tokens, without the spaces between them.
    let kind = quote!(#field_type).to_string();
    let kind = kind
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace("< ", "<");
    let Arguments {
        is_derived,
        is_json_only,
        parts,
        ..
    } = arguments;
    quote! {
        ::hpimount_record::Member {
            name: #name,
            label: #label,
            kind: #kind,
            doc: #doc,
            is_derived: #is_derived,
            is_json_only: #is_json_only,
            parts: &[#(#parts),*],
        }
    }
}

impl Arguments {
    fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut arguments = Self::default();
        for attribute in attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("record"))
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("derived") {
                    arguments.is_derived = true;
                } else if meta.path.is_ident("json") {
                    arguments.is_json_only = true;
                } else if meta.path.is_ident("name") {
                    arguments.name = Some(meta.value()?.parse::<LitStr>()?.value());
                } else if meta.path.is_ident("parts") {
                    let parts = meta.value()?.parse::<LitStr>()?.value();
                    arguments.parts = parts.split(' ').map(str::to_owned).collect();
                } else {
                    return Err(meta.error("is not known"));
                }
                Ok(())
            })?;
        }
        Ok(arguments)
    }
}

/// Returns the file with the table of fields.
fn table_file(attributes: &[Attribute]) -> Result<Option<String>> {
    let mut table = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("record"))
    {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("table") {
                return Err(meta.error("is not known"));
            }
            table = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(table)
}

/// Returns the first sentence of the documentation.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Str(text) => Some(text.value().trim().to_owned()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        });
    let text = lines.collect::<Vec<_>>().join(" ");
    match text.split_once(". ") {
        Some((sentence, _)) => sentence.to_owned(),
        None => text.trim_end_matches('.').to_owned(),
    }
}

/// Returns a name in snake case.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
