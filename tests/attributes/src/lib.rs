//! Attributes of hpimount's tests.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Marks a function as a test that mounts: `#[fuse_test]` in place of `#[test]`.
///
/// If mounting is impossible, the test is reported as skipped; in `scripts/test
/// --foreign`, it fails.
///
/// # Panics
/// Panics if it marks anything but a function.
#[proc_macro_attribute]
pub fn fuse_test(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        panic!("#[fuse_test] marks a function");
    };
    let mut guarded = source("if ::testkit::mount::can_mount()");
    guarded.extend([TokenTree::from(body)]);
    tokens.push(Group::new(Delimiter::Brace, guarded).into());
    let mut test = source("#[::core::prelude::v1::test]");
    test.extend(tokens);
    test
}

/// Returns the tokens of Rust code.
fn source(code: &str) -> TokenStream {
    code.parse().expect("the code is valid")
}
