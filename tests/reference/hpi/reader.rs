//! The independent reader beside the repository.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::shared;

/// Loads the reader and prints its report on each archive as a line of JSON, or `null`
/// if it cannot open the archive.
const DRIVER: &str = "
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('reader', sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
for path in sys.argv[2:]:
    try:
        report, files = reader.Hpi(open(path, 'rb').read()).report()
        print(json.dumps({'report': report, 'files': files}))
    except Exception:
        print('null')
";

/// Returns the reports of the independent reader on HPI archives and their
/// files; `None` for archives that it cannot open. The outer `None` means that
/// there is no reader. One process reads all archives, because starting it
/// takes longer than reading most of them.
pub(crate) fn reports(archives: &[impl AsRef<Path>]) -> Option<Vec<Option<Value>>> {
    let reader = shared("oracle/hpi_ref.py")?;
    let mut command = Command::new("python3");
    command.args(["-c", DRIVER]).arg(reader);
    command.args(archives.iter().map(AsRef::as_ref));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let reports: Vec<Option<Value>> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert_eq!(reports.len(), archives.len(), "{problem}");
    Some(reports)
}

/// Returns the same for archives in memory.
pub(crate) fn reports_on_bytes(archives: &[&[u8]]) -> Option<Vec<Option<Value>>> {
    let work_dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..archives.len())
        .map(|number| work_dir.path().join(number.to_string()))
        .collect();
    for (path, bytes) in paths.iter().zip(archives) {
        std::fs::write(path, bytes).unwrap();
    }
    reports(&paths)
}
