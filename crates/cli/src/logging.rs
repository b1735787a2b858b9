//! # Logging: words to stderr
//!
//! Where several nodes share a store, each line begins with the name of its own.
//! **May not:** write to stdout, which belongs to data.

use std::io::{self, IsTerminal as _, Write, stderr};

use anyhow::Context as _;
use semel_server::{Config, Exporter, LogFormat, node_name};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, Registry};

/// Sends everything the filter lets through to stderr, and spans to whoever collects them; once per
/// process.
pub(crate) fn start(config: &Config, spans: Option<&Exporter>) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.log).context("the log filter does not parse")?;
    let format = config.log_format;
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(move || Named {
        format,
        node: node_name(),
        to: stderr(),
    });
    let lines = match format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(spans.map(Exporter::layer))
        .try_init()
        .map_err(|error| anyhow::anyhow!(error).context("logging was started before"))
}

/// Puts the name of the node into lines that come one by one.
struct Named<W> {
    format: LogFormat,
    node: Option<&'static str>,
    to: W,
}

impl<W: Write> Write for Named<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Some(node) = self.node else { return self.to.write(line) };
        let named = match self.format {
            LogFormat::Text => [node.as_bytes(), b" ", line].concat(),
            LogFormat::Json => {
                let rest = line.strip_prefix(b"{").unwrap_or(line);
                [b"{\"node\":", serde_json::json!(node).to_string().as_bytes(), b",", rest].concat()
            }
        };
        self.to.write_all(&named)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: LogFormat, node: Option<&'static str>, line: &str) -> String {
        let mut named = Named { format, node, to: Vec::new() };
        named.write_all(line.as_bytes()).expect("a buffer takes everything");
        String::from_utf8(named.to).expect("it was text")
    }

    #[test]
    fn a_line_names_its_node_where_there_are_several() {
        assert_eq!(written(LogFormat::Text, None, "INFO serving\n"), "INFO serving\n");
        assert_eq!(written(LogFormat::Text, Some("a"), "INFO serving\n"), "a INFO serving\n");
        let line = written(LogFormat::Json, Some("a \"b\""), "{\"level\":\"INFO\"}\n");
        let line: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
        assert_eq!(line, serde_json::json!({"node": "a \"b\"", "level": "INFO"}));
    }
}
