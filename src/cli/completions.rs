//! Completions for shells.
//!
//! clap_complete generates them, and completes `-o` as if it had one value. Here they get
//! a function that completes the last one of several values between commas, and files
//! after `=`.

use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;

use super::command;
use super::contents::{MOUNT_OPTIONS_ID, MOUNT_OPTIONS_VALUE};
use super::mount_options::MOUNT_OPTIONS;

/// Returns the completions for a program.
pub fn completions(shell: Shell, name: &str) -> String {
    let words: Vec<String> = MOUNT_OPTIONS
        .iter()
        .flat_map(|option| option.completions())
        .collect();
    let mut command = with_mount_options(command(name), &words.clone().into());
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&script, &words.join(" ")),
        Shell::Zsh => zsh(&script, &words.join(" ")),
        Shell::Fish => fish(&script, &words),
        _ => script,
    }
}

/// Lists the values of `-o` for a command and those in it.
fn with_mount_options(command: Command, values: &PossibleValuesParser) -> Command {
    let is_list = |arg: &Arg| arg.get_id() == MOUNT_OPTIONS_ID;
    let command = command.mut_args(|arg| match is_list(&arg) {
        true => arg.value_parser(values.clone()),
        false => arg,
    });
    command.mut_subcommands(|command| with_mount_options(command, values))
}

fn bash(script: &str, words: &str) -> String {
    // The words that bash passes are broken at each `=`.
    let calls =
        "    [[ ${COMP_LINE:0:COMP_POINT} =~ [[:space:]](-o)?[[:space:]]*([^[:space:]]*)$ ]]
    if [[ -n ${BASH_REMATCH[1]} || ${BASH_REMATCH[2]} == -o* ]]; then
        _hpi_mount_options \"${BASH_REMATCH[2]}\"
        return
    fi
";
    let function = "
# Completes the last of the mount options in a word, which may begin with -o.
_hpi_mount_options() {
    local word=$1 last=${1##*,} before='' cut='' path candidate
    last=${last#-o}
    before=${word%\"$last\"}
    # Readline replaces only what follows the last of these.
    [[ $COMP_WORDBREAKS == *=* ]] && cut=${word%\"${word##*=}\"}
    while IFS= read -r candidate; do
        candidate=$before$candidate
        COMPREPLY+=(\"${candidate#\"$cut\"}\")
    done < <(compgen -W \"WORDS\" -- \"$last\")
    if [[ ${#COMPREPLY[@]} == 0 && $last == *=* ]]; then
        path=${last#*=} path=${path#@}
        while IFS= read -r candidate; do
            [[ -d $candidate ]] && candidate+=/
            candidate=${word%\"$path\"}$candidate
            COMPREPLY+=(\"${candidate#\"$cut\"}\")
        done < <(compgen -f -- \"$path\")
    fi
    # A comma or a value may follow.
    compopt -o nospace 2>/dev/null
}
";
    let start = "    prev=\"$3\"\n";
    script.replacen(start, &format!("{start}{calls}"), 1) + &function.replace("WORDS", words)
}

fn zsh(script: &str, words: &str) -> String {
    let mut function = String::from("_hpi_mount_options() {\n    _values -s , 'mount option'");
    for option in MOUNT_OPTIONS {
        let value = match option.value {
            "" => String::new(),
            values if values.contains('|') => format!(":value:({})", values.replace('|', " ")),
            value if value.starts_with('@') => ":file:{ compset -P @ && _files }".to_owned(),
            "FILE" | "DIR" => ":file:_files".to_owned(),
            value => format!(":{value}: "),
        };
        let help = option.help.replace('\'', "'\\''");
        let _ = write!(function, " \\\n        '{}[{help}]{value}'", option.name);
    }
    function += "\n}\n\n";
    let value = format!(":{MOUNT_OPTIONS_VALUE}:");
    let script = script.replace(
        &format!("{value}({words})"),
        &format!("{value}_hpi_mount_options"),
    );
    // Code after this line runs when the function is loaded.
    let loaded = "if [ \"$funcstack";
    script.replacen(loaded, &(function + loaded), 1)
}

fn fish(script: &str, words: &[String]) -> String {
    let list: Vec<String> = words.iter().map(|word| format!("{word}\\t''")).collect();
    let list = format!("\"{}\"", list.join("\n"));
    let script = script.replace(&list, "\"(__fish_complete_list , __hpi_mount_options)\"");
    let mut function = String::from("function __hpi_mount_options\n");
    for option in MOUNT_OPTIONS {
        let help = option.help.replace('\'', "\\'");
        for word in option.completions() {
            let _ = writeln!(function, "    printf '%s\\t%s\\n' '{word}' '{help}'");
        }
    }
    function += "    set -l last (string split , -- (commandline -ct))[-1]
    set -l before (string match -r '^[^=]*=@?' -- $last)
    and printf '%s\\n' $before(__fish_complete_path (string replace -- $before '' $last))
end

";
    function + &script
}
