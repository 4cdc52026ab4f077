//! The system log.

use log::Log;

use crate::app::log::deliver_to;

/// A connection to the system log, or `None` on a system without one.
pub(super) struct SystemLog(Option<syslog::BasicLogger>);

impl SystemLog {
    /// Connects to the system log.
    pub(super) fn connect() -> Self {
        let formatter = syslog::Formatter3164 {
            process: "hpimount".to_owned(),
            pid: std::process::id(),
            ..syslog::Formatter3164::default()
        };
        Self(syslog::unix(formatter).ok().map(syslog::BasicLogger::new))
    }

    /// Logs there from now on.
    pub(super) fn use_from_now_on(self) {
        deliver_to(self.0.map(|logger| Box::new(logger) as Box<dyn Log>));
    }
}
