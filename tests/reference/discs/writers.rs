//! Discs converted by other programs have the files of the original samples.

use crate::shared;
use testkit::wit;

#[test]
fn gamecube_discs_that_wit_packs_have_the_files_of_the_disc() {
    let Some(disc) = shared("samples/containers/gcm/good.iso") else {
        return;
    };
    let forms = [
        ("ciso", "--ciso"),
        ("gcz", "--gcz"),
        ("wia", "--wia=NONE"),
        ("wia", "--wia=PURGE"),
        ("wia", "--wia=BZIP2@9"),
        ("wia", "--wia=LZMA"),
        ("wia", "--wia=LZMA2"),
    ];
    wit::keeps_the_files(&disc, &forms);
}
