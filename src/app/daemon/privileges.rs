//! The capabilities of threads (capabilities(7)).

use rustix::io;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs,
};

/// Root capabilities of confined threads: reading sources of other users.
pub(super) const TO_READ: CapabilitySet = CapabilitySet::DAC_READ_SEARCH;

/// Root capabilities of the thread that unmounts: unmounting, and finding the mount point in
/// directories of other users.
pub(super) const TO_UNMOUNT: CapabilitySet =
    CapabilitySet::SYS_ADMIN.union(CapabilitySet::DAC_READ_SEARCH);

/// Additional capabilities of the thread that unmounts an idle mount: seeing which programs of
/// other users wait for changes.
pub(super) const TO_SEE_WATCHERS: CapabilitySet = CapabilitySet::SYS_PTRACE;

/// Gives up all capabilities of the current thread but `kept`, for itself and
/// those that it starts, and what executing a program could add.
///
/// # Errors
/// Returns an error if the operating system does.
pub(super) fn keep(kept: CapabilitySet) -> io::Result<()> {
    set_no_new_privs(true)?;
    let permitted = capabilities(None)?.permitted.intersection(kept);
    clear_ambient_capability_set()?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: permitted,
            permitted,
            inheritable: CapabilitySet::empty(),
        },
    )
}
