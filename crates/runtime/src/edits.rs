//! # Edits: one document, read, changed and written
//!
//! A write is taken only if the document is still what was read; otherwise the edit begins again, so
//! of two edits at once neither is lost.

use std::sync::Arc;

use secrecy::SecretString;
use semel_engine::{Execution, Mask, Task, mentions_secrets};
use semel_model::{EventHandler, ExecutionId, Tag};
use semel_store::{DocumentKey, Kind};

use crate::applications::Application;
use crate::failure::Failure;
use crate::handlers::Handlers;
use crate::inbox::Class;
use crate::labels;
use crate::requests::Step;
use crate::runtime::Runtime;
use crate::secrets::Secrets;
use crate::variables::{Variable, Variables};
use crate::work::{Answer, DocumentRule, DocumentWrite, Work};
use crate::world::World;

/// How often an edit begins again before its caller is told to.
pub(crate) const EDITS_MAX: usize = 16;

/// A document, before and after; none: there is no such document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Option<Vec<u8>>,
    /// What else the same request has to be told again.
    pub(crate) aside: Option<String>,
}

impl Runtime {
    pub async fn set_secret(&self, name: &str, value: SecretString) -> Result<(), Failure> {
        let named = name.to_owned();
        let set = move |world: &World, before: Option<&[u8]>| {
            world.secrets.set(&named, &value, before).map(Some)
        };
        self.edit(Secrets::key(name), set).await.map(|_| ())
    }

    pub async fn set_variable(&self, name: &str, value: String) -> Result<(), Failure> {
        let named = name.to_owned();
        let set = move |_: &World, before: Option<&[u8]>| {
            let before = before.map(|body| Variable::parse(&named, body)).transpose()?;
            let variable = Variable { value: value.clone(), ..before.unwrap_or_default() };
            variable.body().map(Some)
        };
        self.edit(Variables::key(name), set).await.map(|_| ())
    }

    /// Removes a secret or an environment value; what is not there is gone already. Returns the body
    /// it had.
    pub async fn remove(&self, key: DocumentKey) -> Result<Option<Vec<u8>>, Failure> {
        Ok(self.edit(key, |_, _| Ok(None)).await?.before)
    }

    /// Removes a stored environment value and returns it.
    pub async fn remove_variable(&self, name: &str) -> Result<Option<String>, Failure> {
        let before = self.remove(Variables::key(name)).await?;
        before.map(|body| Ok(Variable::parse(name, &body)?.value)).transpose()
    }

    /// Replaces a handler that is registered. Tags it does not speak of stay.
    pub async fn replace_handler(&self, handler: EventHandler) -> Result<(), Failure> {
        let key = Handlers::key(&handler.name);
        let wanted = key.clone();
        let edit = move |_: &World, before: Option<&[u8]>| {
            let before = before.ok_or_else(|| Failure::Missing(wanted.clone()))?;
            let before = Handlers::parse(&wanted.name, before)?;
            let tags = handler.tags.clone().or(before.tags);
            let created_by = handler.created_by.clone().or(before.created_by);
            Handlers::body(&EventHandler { tags, created_by, ..handler.clone() }).map(Some)
        };
        self.edit(key, edit).await.map(|_| ())
    }

    /// Changes the tags of something that is stored; of definitions they lie apart.
    pub async fn retag(
        &self,
        key: DocumentKey,
        retag: impl Fn(&mut Vec<Tag>) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let wanted = key.clone();
        let edit = move |_: &World, before: Option<&[u8]>| {
            let name = &wanted.name;
            if matches!(wanted.kind, Kind::WorkflowTags | Kind::TaskTags) {
                return labels::changed(before, &retag);
            }
            let before = before.ok_or_else(|| Failure::Missing(wanted.clone()))?;
            if wanted.kind == Kind::Secret {
                return Secrets::tag(name, before, &retag).map(Some);
            }
            if wanted.kind == Kind::Application {
                let mut application = Application::parse(name, before)?;
                retag(&mut application.tags)?;
                return application.body().map(Some);
            }
            if wanted.kind == Kind::EventHandler {
                let mut handler = Handlers::parse(name, before)?;
                retag(handler.tags.get_or_insert_default())?;
                return Handlers::body(&handler).map(Some);
            }
            let mut variable = Variable::parse(name, before)?;
            retag(&mut variable.tags)?;
            variable.body().map(Some)
        };
        self.edit(key, edit).await.map(|_| ())
    }

    pub(crate) async fn edit(
        &self,
        key: DocumentKey,
        change: impl Fn(&World, Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>
        + Send
        + Sync
        + 'static,
    ) -> Result<Edited, Failure> {
        self.edit_aside(key, None, change).await
    }

    /// One step of its request, however often it begins again.
    pub(crate) async fn edit_aside(
        &self,
        key: DocumentKey,
        aside: Option<String>,
        change: impl Fn(&World, Option<&[u8]>) -> Result<Option<Vec<u8>>, Failure>
        + Send
        + Sync
        + 'static,
    ) -> Result<Edited, Failure> {
        let step = Step::next();
        if let Some(Answer::Edited(edited)) = self.recalled(step.as_ref()).await? {
            return Ok(edited);
        }
        let change = Arc::new(change);
        for _ in 0..EDITS_MAX {
            let (read, edit) = (key.clone(), Arc::clone(&change));
            let looked = self.blocking(move |world| {
                let before = world.store.document(&read)?;
                let after = edit(world, before.as_deref())?;
                Ok((before, after))
            });
            let (before, after) = looked.await?;
            let edited = Edited { before, after, aside: aside.clone() };
            if edited.after == edited.before {
                return Ok(edited);
            }
            let rule = DocumentRule::Unchanged(edited.before.clone());
            let write = DocumentWrite { key: key.clone(), body: edited.after.clone(), rule };
            let step = step.as_ref().map(|step| step.editing(edited.clone()));
            let work = Work::Documents(vec![write]);
            match self.submit_as(step, work, Class::Operation).await {
                Err(Failure::Changed(_)) => {}
                Ok(Answer::Edited(before)) => return Ok(before),
                done => return done.map(|_| edited),
            }
        }
        Err(Failure::Unavailable)
    }

    /// What a report on a task of this execution must not bring into what is stored.
    pub async fn mask(
        &self,
        id: ExecutionId,
        task: impl Fn(&Execution) -> Option<Arc<Task>>,
    ) -> Result<Mask, Failure> {
        let known = self.world().cached(id).and_then(|execution| task(&execution));
        let task = match known {
            Some(known) => known,
            None => {
                let loaded = self.blocking(move |world| world.prefetch(id)).await?;
                let Some(execution) = loaded else { return Ok(Mask::default()) };
                let Some(task) = task(&execution) else { return Ok(Mask::default()) };
                task
            }
        };
        let names = task.step.policy().runtime_metadata();
        if names.is_empty() && !mentions_secrets(&task.input) {
            return Ok(Mask::default());
        }
        let names = names.to_vec();
        self.blocking(move |world| world.mask(&task.input, &names)).await
    }
}
