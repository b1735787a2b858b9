//! # Show: answers for people, answers for programs
//!
//! On a terminal a table has a header, even columns and colour; in a pipe it has tabs and nothing
//! else, so that `cut` and `awk` work. With `--json` the server's words pass through.
//! Data goes to stdout, words go to stderr.

use std::io::{IsTerminal as _, Write as _, stderr, stdout};

use serde_json::Value;

/// How this process should talk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Show {
    pub(crate) json: bool,
    is_terminal: bool,
    is_coloured: bool,
}

impl Show {
    pub(crate) fn here(json: bool) -> Self {
        let is_terminal = stdout().is_terminal();
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { json, is_terminal, is_coloured: is_terminal && !unwanted }
    }

    /// The server's text, as JSON: an id that came as plain text becomes a JSON string.
    pub(crate) fn raw(self, text: &str) -> anyhow::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        match serde_json::from_str::<&serde_json::value::RawValue>(text) {
            Ok(_) => line(text.trim_end()),
            Err(_) => line(&Value::from(text).to_string()),
        }
    }

    /// JSON for people: indented.
    pub(crate) fn pretty(self, text: &str) -> anyhow::Result<()> {
        match serde_json::from_str::<Value>(text) {
            Ok(value) => line(&serde_json::to_string_pretty(&value)?),
            Err(_) => line(text),
        }
    }

    pub(crate) fn table(self, header: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
        Ok(stdout().write_all(self.table_text(header, rows).as_bytes())?)
    }

    fn table_text(self, header: &[&str], rows: &[Vec<String>]) -> String {
        if !self.is_terminal {
            return rows
                .iter()
                .map(|row| cells(row).collect::<Vec<_>>().join("\t") + "\n")
                .collect();
        }
        if rows.is_empty() {
            return String::new();
        }
        let titles: Vec<String> = header.iter().map(|&title| title.to_owned()).collect();
        let all = std::iter::once(&titles).chain(rows);
        let mut widths = vec![0; header.len()];
        for row in all {
            for (width, cell) in widths.iter_mut().zip(cells(row)) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let header = Self { is_coloured: false, ..self }; // A title may read like a status.
        let rows = rows.iter().map(|row| self.row(row, &widths));
        std::iter::once(header.row(&titles, &widths)).chain(rows).collect()
    }

    fn row(self, row: &[String], widths: &[usize]) -> String {
        let mut text = String::new();
        for (at, (cell, width)) in cells(row).zip(widths).enumerate() {
            let gap = if at + 1 == row.len() { 0 } else { width - cell.chars().count() + 2 };
            text.push_str(&self.coloured(&cell));
            text.extend(std::iter::repeat_n(' ', gap));
        }
        text + "\n"
    }

    /// A status in the colour it has everywhere; anything else as it is.
    pub(crate) fn coloured(self, word: &str) -> String {
        let colour = match word {
            "COMPLETED" | "ok" => 32,
            "FAILED"
            | "FAILED_WITH_TERMINAL_ERROR"
            | "TIMED_OUT"
            | "TERMINATED"
            | "CANCELED"
            | "fail" => 31,
            "PAUSED" | "SKIPPED" | "COMPLETED_WITH_ERRORS" | "warn" => 33,
            "RUNNING" | "IN_PROGRESS" | "SCHEDULED" => 36,
            _ => return word.to_owned(),
        };
        if self.is_coloured { format!("\x1b[{colour}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

/// One line each, whatever somebody put into them: data must not move the cursor or add columns.
fn cells(row: &[String]) -> impl Iterator<Item = String> {
    row.iter().map(|cell| match cell.is_empty() {
        true => "-".to_owned(),
        false => cell.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    })
}

/// A line of data.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    let mut stdout = stdout();
    stdout.write_all(text.as_bytes())?;
    Ok(stdout.write_all(b"\n")?)
}

/// Words about what happened.
pub(crate) fn say(words: &str) {
    let line = plain(words) + "\n";
    // Where nobody listens to words, data may still be wanted.
    let _ = stderr().write_all(line.as_bytes());
}

/// Lines for people: what others wrote into them must not move the cursor.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// As much of a text as fits a column.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(3)).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Show = Show { json: false, is_terminal: false, is_coloured: false };
    const PLAIN: Show = Show { json: false, is_terminal: true, is_coloured: false };
    const COLOURED: Show = Show { json: false, is_terminal: true, is_coloured: true };

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        vec![row(["a long name", "COMPLETED"]), row(["", "x\ny\tz"])]
    }

    #[test]
    fn a_pipe_gets_tabs_and_no_header() {
        let text = PIPE.table_text(&["NAME", "STATUS"], &rows());
        assert_eq!(text, "a long name\tCOMPLETED\n-\tx y z\n");
    }

    #[test]
    fn a_terminal_gets_a_header_and_even_columns() {
        let text = PLAIN.table_text(&["NAME", "STATUS"], &rows());
        assert_eq!(text, "NAME         STATUS\na long name  COMPLETED\n-            x y z\n");
        assert_eq!(PLAIN.table_text(&["NAME"], &[]), "");
    }

    #[test]
    fn colour_does_not_count_as_width_and_is_only_for_statuses() {
        let text = COLOURED.table_text(&["SCHEDULED", "N"], &[vec!["PAUSED".into(), "1".into()]]);
        assert_eq!(text, "SCHEDULED  N\n\x1b[33mPAUSED\x1b[0m     1\n");
        assert_eq!(PLAIN.coloured("PAUSED"), "PAUSED");
    }

    #[test]
    fn what_others_wrote_does_not_move_the_cursor() {
        assert_eq!(plain("a\x1b[2Jb\u{9b}c\nd"), "a [2Jb c\nd");
    }

    #[test]
    fn a_long_text_is_cut_by_characters() {
        assert_eq!(cut("äöüäöü", 6), "äöüäöü");
        assert_eq!(cut("äöüäöüä", 6), "äöü...");
    }
}
