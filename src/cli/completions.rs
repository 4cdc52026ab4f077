//! Completions for shells.
//!
//! clap_complete generates them. They are extended by a completion for `-o`,
//! which takes several values, separated by commas.
//!
//! The script for bash needs more: clap_complete's function offers options for
//! the first word, where users want a path, and does not complete the value in
//! `--option=value`, because bash passes that as three words. `bash` therefore
//! wraps the function, and calls it only for options and for their values.

use std::fmt::Write;

use clap_complete::Shell;

use super::option::NAMED_FILE;
use super::{OptionSpec, Program, Takes};

/// Returns the completions for bash.
pub fn bash<S>(program: &Program<S>) -> String {
    let name = program.name;
    let mut script = generated(program, Shell::Bash);
    let takers = program
        .flags()
        .filter(|option| option.value_name().is_some());
    let takers: Vec<String> = takers.flat_map(OptionSpec::spellings).collect();
    if program.mount_options().next().is_some() || program.flags().any(is_named_file) {
        script += &bash_paths(program.name);
    }
    if program.mount_options().next().is_some() {
        script += &bash_mount_options(program);
    }
    let named_files: Vec<String> = program
        .flags()
        .filter(|option| is_named_file(option))
        .flat_map(OptionSpec::spellings)
        .map(|flag| {
            format!(
                "    if [[ $before == {flag} ]]; then
        [[ $word == *=* ]] && _{name}_paths -f \"${{word#*=}}\" \"${{word%%=*}}=\"
        return
    fi
"
            )
        })
        .collect();
    let named_files = named_files.concat();
    let mount_options = program.flags().find_map(list_flag);
    let mount_options = mount_options.map_or_else(String::new, |flag| {
        format!(
            "    if [[ $before == {flag} ]]; then
        _{name}_mount_options \"$word\" \"\"
        return
    elif [[ $word == {flag}* ]]; then
        _{name}_mount_options \"${{word#{flag}}}\" {flag}
        return
    fi
"
        )
    });
    let _ = write!(
        script,
        "
# Completes options, and values after options that take one. Anything else is a
# path, which bash completes itself.
_{name}_complete() {{
    local word=${{COMP_LINE:0:COMP_POINT}} before
    before=${{word%\"${{word##*[[:space:]]}}\"}}
    word=${{word##*[[:space:]]}}
    before=${{before%\"${{before##*[![:space:]]}}\"}}
    before=${{before##*[[:space:]]}}
    COMPREPLY=()
{named_files}{mount_options}    if [[ $word == --*=* && $COMP_WORDBREAKS == *=* ]]; then
        _{name} \"$1\" \"${{word#*=}}\" \"${{word%%=*}}\"
        return 0
    fi
    case $before in
        {takers})
            _{name} \"$@\"
            ;;
        *)
            [[ $word == -* ]] && _{name} \"$@\"
            ;;
    esac
    return 0
}}

complete -F _{name}_complete -o bashdefault -o default {name}
",
        takers = takers.join("|"),
    );
    script
}

/// Returns whether the value of an option is a name and a file.
fn is_named_file<S>(option: &OptionSpec<S>) -> bool {
    matches!(option.takes, Takes::File(NAMED_FILE, _))
}

/// Returns what `compgen` lists for the value of an option, if that is a path,
/// and the character before it.
fn path_of<S>(option: &OptionSpec<S>) -> Option<(&'static str, &'static str)> {
    match option.takes {
        Takes::File(name, _) if name.starts_with('@') => Some(("-f", "@")),
        Takes::File(..) | Takes::Sources(..) => Some(("-f", "")),
        Takes::Folder(..) | Takes::Folders(..) => Some(("-d", "")),
        _ => None,
    }
}

/// Returns a function that completes a path that is the end of a word.
fn bash_paths(name: &str) -> String {
    format!(
        "
# Completes the path $2, of the kind $1 of compgen, which follows $3.
_{name}_paths() {{
    local sign signs= cut= path
    # Readline replaces only what follows the last of these.
    for sign in = @ :; do
        [[ $COMP_WORDBREAKS == *$sign* ]] && signs+=$sign
    done
    path=$3$2
    [[ -n $signs ]] && cut=${{path%\"${{path##*[$signs]}}\"}}
    while IFS= read -r path; do
        [[ -d $path ]] && path+=/
        path=$3$path
        COMPREPLY+=(\"${{path#\"$cut\"}}\")
    done < <(compgen \"$1\" -- \"$2\")
    # A part of the path or another option may follow.
    compopt -o nospace 2>/dev/null
}}
"
    )
}

/// Returns a function that completes a list of mount options.
fn bash_mount_options<S>(program: &Program<S>) -> String {
    let names: Vec<String> = program
        .mount_options()
        .map(|option| match option.value_name() {
            Some(_) => format!("{}=", option.id()),
            None => option.id().to_owned(),
        })
        .collect();
    let mut values = String::new();
    for option in program.mount_options() {
        let choices: Vec<String> = option
            .choices()
            .iter()
            .map(|choice| format!("{}={}", option.id(), choice.name))
            .collect();
        if !choices.is_empty() {
            let _ = writeln!(
                values,
                "        {}=*) words=\"{}\" ;;",
                option.id(),
                choices.join(" ")
            );
        }
        if let Some((kind, sign)) = path_of(option) {
            let before = format!("{}={sign}", option.id());
            let _ = writeln!(
                values,
                "        {before}*) _{}_paths {kind} \"${{last#{before}}}\" \"$head{before}\"; return ;;",
                program.name
            );
        }
    }
    format!(
        "
# Completes the last of the mount options in $1, which follows $2.
_{name}_mount_options() {{
    local last=${{1##*,}} words typed=$2$1 cut= candidate
    local head=${{typed%\"$last\"}}
    case $last in
{values}        *=*) words= ;;
        *) words=\"{names}\" ;;
    esac
    # Readline replaces only what follows the last of these.
    [[ $COMP_WORDBREAKS == *=* ]] && cut=${{typed%\"${{typed##*=}}\"}}
    while IFS= read -r candidate; do
        candidate=$head$candidate
        COMPREPLY+=(\"${{candidate#\"$cut\"}}\")
    done < <(compgen -W \"$words\" -- \"$last\")
    # A comma or a value may follow.
    compopt -o nospace 2>/dev/null
}}
",
        name = program.name,
        names = names.join(" "),
    )
}

/// Returns the completions for zsh.
pub fn zsh<S>(program: &Program<S>) -> String {
    let script = generated(program, Shell::Zsh);
    let script = zsh_named_files(program, &script);
    let Some(value) = program.flags().find_map(list_value) else {
        return script;
    };
    let name = program.name;
    let mut function = format!("_{name}_mount_options() {{\n    _values -s , 'mount option' \\\n");
    for option in program.mount_options() {
        let choices: Vec<&str> = option.choices().iter().map(|choice| choice.name).collect();
        let value = match (option.value_name(), choices.is_empty()) {
            (None, _) => String::new(),
            (Some(value), true) => match path_of(option) {
                None => format!(":{value}: "),
                Some(("-d", _)) => ":directory:_files -/".to_owned(),
                Some((_, "")) => ":file:_files".to_owned(),
                Some((_, sign)) => format!(":file:{{ compset -P {sign} && _files }}"),
            },
            (Some(_), false) => format!(":{}:({})", option.id(), choices.join(" ")),
        };
        let help = option.help.replace('\'', "'\\''");
        let _ = writeln!(function, "        '{}[{help}]{value}' \\", option.id());
    }
    function += "        && return 0\n}\n\n";
    let action = format!(":{value}:");
    let script = script.replacen(&action, &format!("{action}_{name}_mount_options"), 1);
    // Code after this line runs when the function is loaded.
    script.replacen("if [ \"$funcstack", &(function + "if [ \"$funcstack"), 1)
}

/// Adds the completion of values that are a name and a file.
fn zsh_named_files<S>(program: &Program<S>, script: &str) -> String {
    if !program.flags().any(is_named_file) {
        return script.to_owned();
    }
    let name = program.name;
    let action = format!(":{NAMED_FILE}:");
    let function =
        format!("_{name}_named_file() {{\n    compset -P '*=' && _files\n}}\n\nif [ \"$funcstack");
    let script = script.replacen(&action, &format!("{action}_{name}_named_file"), 1);
    script.replacen("if [ \"$funcstack", &function, 1)
}

/// Returns the completions for fish.
pub fn fish<S>(program: &Program<S>) -> String {
    let mut script = generated(program, Shell::Fish);
    for option in program.flags().filter(|option| is_named_file(option)) {
        let _ = write!(
            script,
            "\n# The file after the name.
function __{name}_named_file
    set -l word (commandline -ct)
    set -l before (string match -r '^[^=]*=' -- $word)
    and printf '%s\\n' $before(__fish_complete_path (string replace -- $before '' $word))
end
complete -c {name} -l {long} -x -a '(__{name}_named_file)'\n",
            name = program.name,
            long = option.id(),
        );
    }
    let Some(flag) = program.flags().find_map(list_flag) else {
        return script;
    };
    let (name, short) = (program.name, flag.trim_start_matches('-'));
    let mut paths = Vec::new();
    let _ = writeln!(script, "\nfunction __{name}_mount_options");
    for option in program.mount_options() {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
        let mut line = |text: String, help: &str| {
            let _ = writeln!(
                script,
                "    printf '%s\\t%s\\n' '{text}' '{}'",
                quoted(help)
            );
        };
        match (option.value_name(), option.choices()) {
            (None, _) => line(option.id().to_owned(), option.help),
            (Some(_), []) => {
                line(format!("{}=", option.id()), option.help);
                if let Some((_, sign)) = path_of(option) {
                    paths.push(format!("{}={sign}", option.id()));
                }
            }
            (Some(_), choices) => {
                for choice in choices {
                    line(format!("{}={}", option.id(), choice.name), choice.help);
                }
            }
        }
    }
    for before in paths {
        let _ = write!(
            script,
            "    set -l last (string split , -- (commandline -ct))[-1]
    string match -q -- '{before}*' $last
    and printf '{before}%s\\n' (__fish_complete_path (string replace -- '{before}' '' $last))\n"
        );
    }
    let _ = write!(
        script,
        "end\n\
         complete -c {name} -s {short} -x -a \"(__fish_complete_list , __{name}_mount_options)\"\n"
    );
    script
}

fn generated<S>(program: &Program<S>, shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program.command(), program.name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the spelling of the option that takes mount options; `None` for
/// others.
fn list_flag<S>(option: &OptionSpec<S>) -> Option<String> {
    list_value(option)?;
    option.spellings().into_iter().next()
}

/// Returns the placeholder for the value of the option that takes mount
/// options; `None` for others.
fn list_value<S>(option: &OptionSpec<S>) -> Option<&'static str> {
    match option.takes {
        Takes::MountOptions(value) => Some(value),
        _ => None,
    }
}
