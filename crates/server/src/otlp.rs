//! # OTLP: spans, for whoever collects them
//!
//! One span per request and one per round, sent in batches by a thread of their own. A collector
//! that is slow, gone or full costs spans, never requests: what does not fit the queue is dropped.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use semel_api::Spans;
use semel_model::Traceparent;
use tracing_opentelemetry::{OpenTelemetryLayer, OpenTelemetrySpanExt as _};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

const EXPORT_WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
#[error("spans cannot be sent to {endpoint}")]
pub struct ExporterError {
    endpoint: String,
    source: ExporterBuildError,
}

/// Sends spans away until it is stopped.
pub struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// `endpoint` is the base address; spans go to `/v1/traces` below it.
    pub fn to(endpoint: &str) -> Result<Self, ExporterError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(format!("{endpoint}/v1/traces"))
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(EXPORT_WITHIN)
            .build();
        let exporter =
            exporter.map_err(|source| ExporterError { endpoint: endpoint.to_owned(), source })?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name("semel").with_attribute(version);
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.build())
            .with_batch_exporter(exporter)
            .build();
        Ok(Self { provider })
    }

    /// For the subscriber of this process. Only our own spans: the sender must not watch itself.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: tracing::Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
    {
        let tracer: SdkTracer = self.provider.tracer("semel");
        let spans: OpenTelemetryLayer<S, SdkTracer> = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_threads(false)
            .with_location(false)
            .with_tracked_inactivity(false);
        let ours = filter_fn(|about| about.is_span() && about.target().starts_with("semel"));
        spans.with_filter(ours)
    }

    /// Sends what is left, for a few seconds at most.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(EXPORT_WITHIN) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

struct Adopting;

/// What ties requests to the traces of their callers.
pub(crate) fn spans() -> Option<Arc<dyn Spans>> {
    Some(Arc::new(Adopting))
}

impl Spans for Adopting {
    fn adopt(&self, span: &tracing::Span, parent: Option<Traceparent>) -> Option<Traceparent> {
        if let Some(parent) = parent {
            let remote = SpanContext::new(
                TraceId::from_bytes(parent.trace().to_be_bytes()),
                SpanId::from_bytes(parent.span().to_be_bytes()),
                TraceFlags::new(parent.flags()),
                true,
                TraceState::default(),
            );
            // It fails for a span nobody collects, which has no trace to be part of.
            let _ = span.set_parent(Context::new().with_remote_span_context(remote));
        }
        let context = span.context();
        let own = context.span().span_context().clone();
        let own = own.is_valid().then_some(own);
        let own = own.and_then(|own| {
            let (trace, span) = (own.trace_id().to_bytes(), own.span_id().to_bytes());
            let (trace, span) = (u128::from_be_bytes(trace), u64::from_be_bytes(span));
            Traceparent::new(trace, span, own.trace_flags().to_u8())
        });
        own.or(parent)
    }
}
