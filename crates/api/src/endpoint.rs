//! # Endpoints: one line per method and path
//!
//! A line says who may call, what is read and what is answered, and names the handler. Routes, the
//! check of roles and the OpenAPI document are all made from these lines, so that none of them can
//! forget one.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::routing::{self, MethodRouter};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use semel_model::RequestMembers;

use crate::app::App;
use crate::guard::{Guard, guard};
use crate::keyed::Keyed;
use crate::request::{Bound, Reading};
use crate::roles::Access;

pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// What a body holds, either way.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    Json(MakeSchema),
    Text,
    Html,
}

pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) value: Value,
}

/// What a parameter of the query is read as.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    Text,
    /// May be said several times.
    Texts,
    Flag(bool),
    Number(i64),
    /// A number that may be left out.
    Count,
    Choice(&'static [&'static str]),
}

pub(crate) struct Endpoint {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) access: Access,
    pub(crate) about: &'static str,
    pub(crate) query: Vec<Parameter>,
    pub(crate) headers: Vec<&'static str>,
    pub(crate) takes: Option<Content>,
    /// The members of a body that is a request; none: it is data, or a definition, which is judged by
    /// who keeps it.
    members: Option<fn() -> RequestMembers>,
    /// None: as large as any.
    bytes_max: Option<usize>,
    /// The body may be left out.
    pub(crate) optional: bool,
    /// Of a success; none: empty.
    pub(crate) gives: Option<Content>,
    /// May answer 204, or always does.
    pub(crate) empty: Empty,
    pub(crate) does: Does,
    /// The answer may hold secrets, or what holds for a time only, and is kept nowhere.
    pub(crate) confides: bool,
    /// Other statuses than the usual refusals.
    pub(crate) also: Vec<u16>,
    serve: MethodRouter<App>,
}

/// What calling an endpoint does. Only a look is ever done for a HEAD.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    Looks,
    /// Hands tasks out. Workers ask all the time, so it is not audited; who has a task is stored.
    Takes,
    Changes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Empty {
    Never,
    Sometimes,
    Always,
}

macro_rules! methods {
    ($($name:ident $method:ident)+) => {
        $(pub(crate) fn $name<H, T>(path: &'static str, access: Access, handler: H) -> Endpoint
        where
            H: Handler<T, App>,
            T: 'static,
        {
            Endpoint::new(Method::$method, path, access, routing::$name(handler))
        })+
    };
}

methods! { get GET post POST put PUT delete DELETE }

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Endpoint {
    fn new(method: Method, path: &'static str, access: Access, serve: MethodRouter<App>) -> Self {
        let does = if method == Method::GET { Does::Looks } else { Does::Changes };
        Self {
            does,
            method,
            path,
            access,
            about: "",
            query: Vec::new(),
            headers: Vec::new(),
            takes: None,
            members: None,
            bytes_max: None,
            optional: false,
            gives: None,
            empty: Empty::Never,
            confides: false,
            also: Vec::new(),
            serve,
        }
    }

    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(crate) fn query(mut self, name: &'static str, value: Value) -> Self {
        self.query.push(Parameter { name, value });
        self
    }

    pub(crate) fn header(mut self, name: &'static str) -> Self {
        self.headers.push(name);
        self
    }

    /// A request: what it says and nobody reads is refused or named in the answer.
    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        Self { members: Some(RequestMembers::of::<T>), ..self.takes_definition::<T>() }
    }

    /// Its body is no larger than this, whatever others may be.
    pub(crate) fn at_most(self, bytes: usize) -> Self {
        Self { bytes_max: Some(bytes), ..self }
    }

    /// Something that is kept as it is.
    pub(crate) fn takes_definition<T: JsonSchema>(self) -> Self {
        Self { takes: Some(Content::Json(of::<T>)), ..self }
    }

    /// Data; without a body it is `{}`.
    pub(crate) fn takes_data(self) -> Self {
        self.takes_definition::<semel_model::Payload>().may_be_blank()
    }

    pub(crate) fn may_be_blank(self) -> Self {
        Self { optional: true, ..self }
    }

    pub(crate) fn takes_text(self) -> Self {
        Self { takes: Some(Content::Text), ..self }
    }

    pub(crate) fn gives<T: JsonSchema>(self) -> Self {
        Self { gives: Some(Content::Json(of::<T>)), ..self }
    }

    pub(crate) fn gives_text(self) -> Self {
        Self { gives: Some(Content::Text), ..self }
    }

    pub(crate) fn gives_page(self) -> Self {
        Self { gives: Some(Content::Html), ..self }
    }

    /// 204.
    pub(crate) fn gives_nothing(self) -> Self {
        Self { empty: Empty::Always, ..self }
    }

    pub(crate) fn or_nothing(self) -> Self {
        Self { empty: Empty::Sometimes, ..self }
    }

    pub(crate) fn does(self, does: Does) -> Self {
        Self { does, ..self }
    }

    pub(crate) fn confides(self) -> Self {
        Self { confides: true, ..self }
    }

    /// What it answers holds for a time only, so no answer is kept: the same request again is told
    /// what is so then.
    pub(crate) fn grants(self) -> Self {
        Self { confides: true, ..self }
    }

    /// Whether the same request again is known by its `Idempotency-Key`.
    pub(crate) fn is_keyed(&self) -> bool {
        let is_ours = self.path.starts_with("/api/") && !matches!(self.access, Access::Anyone);
        is_ours && self.does == Does::Changes
    }

    pub(crate) fn also(mut self, status: u16) -> Self {
        self.also.push(status);
        self
    }

    /// Adds the route, with its guard in front of the handler.
    pub(crate) fn open(self, routes: Router<App>, app: &App) -> Router<App> {
        let Self { access, does, takes, members, bytes_max, empty, confides, .. } = self;
        let reading = match (takes, members) {
            (None, _) => Reading::Nothing,
            (Some(_), None) => Reading::Anything,
            (Some(_), Some(members)) => {
                Reading::known(members, Bound::of_path(&app.limits, bytes_max))
            }
        };
        let keyed = self.is_keyed().then(|| Keyed {
            app: Arc::clone(app),
            takes,
            reading: reading.clone(),
            empty,
            confides,
        });
        // What a GET does not know may be its input.
        let refuses = does == Does::Changes && self.method != Method::GET;
        let known = refuses.then(|| self.query.iter().map(|it| it.name).collect());
        let watch = Guard { app: Arc::clone(app), access, does, keyed, reading, known };
        routes.route(self.path, self.serve.layer(from_fn_with_state(Arc::new(watch), guard)))
    }
}
