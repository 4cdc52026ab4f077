//! Desktop notifications (org.freedesktop.Notifications).

use std::process::Command;

/// The application name of the notifications, and their icon.
const PROGRAM: &str = "hpimount";

/// Duration of a notification, in milliseconds.
const SHOWN: &str = "10000";

/// Shows a notification with one of the available programs. Returns whether it
/// was shown.
pub(in crate::app) fn notify(title: &str, text: &str) -> bool {
    // The body is markup, unlike the title.
    let text = escaped(text);
    by_notify_send(title, &text) || by_gdbus(title, &text)
}

fn by_notify_send(title: &str, text: &str) -> bool {
    succeeds(
        Command::new("notify-send")
            .args(["-a", PROGRAM, "-i", PROGRAM, "-t", SHOWN, "--"])
            .args([title, text]),
    )
}

fn by_gdbus(title: &str, text: &str) -> bool {
    let string = |text: &str| {
        let quoted = text.replace('\\', "\\\\").replace('\'', "\\'");
        format!("'{quoted}'")
    };
    succeeds(
        Command::new("gdbus")
            .args(["call", "--session", "--dest"])
            .arg("org.freedesktop.Notifications")
            .args(["--object-path", "/org/freedesktop/Notifications"])
            .args(["--method", "org.freedesktop.Notifications.Notify"])
            .args([&string(PROGRAM), "0", &string(PROGRAM)])
            .args([&string(title), &string(text), "[]", "{}", SHOWN]),
    )
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Returns the text as markup.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(escaped("<b>R&D.hpi"), "&lt;b&gt;R&amp;D.hpi");
    }
}
