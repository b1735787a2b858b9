//! # The index: rows to search by
//!
//! Follows what is committed, a moment later, and can be thrown away at any time: whoever fills it
//! compares it with the journals and writes again what differs. It is never asked what is so.
//!
//! **May not:** fail a commit, or be read by a decision.

use std::collections::{BTreeMap, BTreeSet};

use semel_model::{ExecutionId, TaskId, TaskStatus, Timestamp, WorkflowStatus};

use crate::StoreError;
use crate::rows::Place;
use crate::search::{Hits, TaskField, TaskSearch, Value, WorkflowField, WorkflowSearch};

/// Free text looks at so much of a run's input, and as much of its output.
pub const WORDS_BYTES_MAX: usize = 16 * 1024;
/// The same of a task.
pub const TASK_WORDS_BYTES_MAX: usize = 2 * 1024;

pub trait Index: Send + Sync {
    /// All of the batch or nothing. Readers see it when this returns. Of one run, rows come in the order
    /// of its journal; where several processes write, a row of an earlier moment replaces none of a later.
    fn put(&self, batch: &Batch) -> Result<(), StoreError>;

    fn workflows(&self, search: &WorkflowSearch) -> Result<Hits<ExecutionId>, StoreError>;

    fn tasks(&self, search: &TaskSearch) -> Result<Hits<Place>, StoreError>;

    /// Where a task lies. Where several processes write, a delivery says so before any of them has.
    fn place_of(&self, task: TaskId) -> Result<Option<Place>, StoreError>;

    /// Indexed executions after that id, by id.
    fn indexed(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, Indexed)>, StoreError>;

    /// Runs that are found by everything but their words so far.
    fn wordless(&self, max: usize) -> Result<Vec<ExecutionId>, StoreError>;

    /// A run as it stood after some entry, if somebody kept that.
    fn snapshot(&self, id: ExecutionId) -> Result<Option<Vec<u8>>, StoreError>;

    /// Forgets everything, whatever state it is in.
    fn reset(&self) -> Result<(), StoreError>;
}

/// How far an execution is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed {
    pub seq: u64,
    /// Every entry up to `seq` was brought. False only means that it is not known.
    pub is_whole: bool,
    pub is_live: bool,
}

/// One write of the index: first what is removed, then rows, then what is known of hand-outs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Nothing of these is left.
    pub removed: Vec<ExecutionId>,
    /// No task of these is left, as of that end of its journal, but what this batch brings.
    pub emptied: Vec<(ExecutionId, u64)>,
    pub runs: Vec<RunRow>,
    pub tasks: Vec<TaskRow>,
    /// Changes rows that are there and of tasks that are not over, and only those.
    pub handed_over: BTreeMap<Place, HandedOver>,
    /// Of a run once. Those of an earlier moment than its row are not taken: it may have others by now.
    pub words: Vec<Words>,
    /// Long runs as they stand, so that they need not be folded from their beginning.
    pub snapshots: Vec<(ExecutionId, Vec<u8>)>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn len(&self) -> usize {
        self.removed.len()
            + self.emptied.len()
            + self.runs.len()
            + self.tasks.len()
            + self.handed_over.len()
            + self.words.len()
            + self.snapshots.len()
    }

    /// Every run it says something about.
    pub fn of(&self) -> BTreeSet<ExecutionId> {
        let ids = self.removed.iter().chain(self.emptied.iter().map(|(id, _)| id));
        let ids = ids.chain(self.runs.iter().map(|row| &row.id));
        let ids = ids.chain(self.tasks.iter().map(|row| &row.place.execution));
        let ids = ids.chain(self.handed_over.keys().map(|place| &place.execution));
        let ids = ids.chain(self.words.iter().map(|words| &words.of));
        ids.chain(self.snapshots.iter().map(|(id, _)| id)).copied().collect()
    }

    /// Each with half of its runs; none: there are not two.
    pub fn halves(&self) -> Option<[Self; 2]> {
        let of = self.of();
        let middle = *of.iter().nth(of.len() / 2).filter(|_| of.len() > 1)?;
        Some([self.only(|id| *id < middle), self.only(|id| *id >= middle)])
    }

    fn only(&self, is_kept: impl Fn(&ExecutionId) -> bool) -> Self {
        let mut part = self.clone();
        part.removed.retain(&is_kept);
        part.emptied.retain(|(id, _)| is_kept(id));
        part.runs.retain(|row| is_kept(&row.id));
        part.tasks.retain(|row| is_kept(&row.place.execution));
        part.handed_over.retain(|place, _| is_kept(&place.execution));
        part.words.retain(|words| is_kept(&words.of));
        part.snapshots.retain(|(id, _)| is_kept(id));
        part
    }
}

/// The words of a run, in lower case, when its journal ended there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub of: ExecutionId,
    pub seq: u64,
    pub text: String,
}

/// Entries of one journal, one after the other: after that seq, up to this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub after: u64,
    pub to: u64,
}

/// What a run is found by. What is absent is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    pub id: ExecutionId,
    /// The end of its journal when this was so.
    pub seq: u64,
    /// Whose changes of tasks come with this row. The row itself is of one moment; its tasks are only
    /// as good as all that were ever brought.
    pub brings: Vec<Stretch>,
    pub name: String,
    pub version: i32,
    pub status: WorkflowStatus,
    pub correlation_id: String,
    pub idempotency_key: String,
    pub parent: Option<ExecutionId>,
    pub priority: i32,
    pub started_at: Timestamp,
    /// Not before any other of its times.
    pub updated_at: Timestamp,
    pub ended_at: Timestamp,
    /// The words it had before do not count any more.
    pub has_new_words: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TaskRow {
    pub place: Place,
    /// The end of the run's journal when this was so.
    pub seq: u64,
    pub workflow_name: String,
    pub task_type: String,
    pub definition_name: String,
    pub reference: String,
    pub status: TaskStatus,
    pub scheduled_at: Timestamp,
    pub started_at: Timestamp,
    /// Not before any other of its times.
    pub updated_at: Timestamp,
    pub ended_at: Timestamp,
    /// In lower case.
    pub words: String,
}

/// A worker has the task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandedOver {
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
}

impl HandedOver {
    pub const STATUS: TaskStatus = TaskStatus::InProgress;
}

impl RunRow {
    pub fn value(&self, field: WorkflowField) -> Value<'_> {
        match field {
            WorkflowField::WorkflowId => self.id.into(),
            WorkflowField::Parent => Value::Id(self.parent.map(|id| *id.as_bytes())),
            WorkflowField::Correlation => Value::Text(&self.correlation_id),
            WorkflowField::IdempotencyKey => Value::Text(&self.idempotency_key),
            WorkflowField::Name => Value::Text(&self.name),
            WorkflowField::Version => Value::Number(self.version.into()),
            WorkflowField::Status => Value::Text(self.status.as_str()),
            WorkflowField::Priority => Value::Number(self.priority.into()),
            WorkflowField::Start => Value::Number(self.started_at.ms()),
            WorkflowField::Update => Value::Number(self.updated_at.ms()),
            WorkflowField::End => Value::Number(self.ended_at.ms()),
            WorkflowField::Classifier => Value::Text(WorkflowField::CLASSIFIER),
        }
    }
}

impl TaskRow {
    pub fn value(&self, field: TaskField) -> Value<'_> {
        match field {
            TaskField::TaskId => self.place.task.into(),
            TaskField::WorkflowId => self.place.execution.into(),
            TaskField::WorkflowName => Value::Text(&self.workflow_name),
            TaskField::TaskType => Value::Text(&self.task_type),
            TaskField::DefinitionName => Value::Text(&self.definition_name),
            TaskField::Reference => Value::Text(&self.reference),
            TaskField::Status => Value::Text(self.status.as_str()),
            TaskField::Scheduled => Value::Number(self.scheduled_at.ms()),
            TaskField::Start => Value::Number(self.started_at.ms()),
            TaskField::Update => Value::Number(self.updated_at.ms()),
            TaskField::End => Value::Number(self.ended_at.ms()),
        }
    }

    pub fn hand_over(&mut self, to: HandedOver) {
        self.status = HandedOver::STATUS;
        self.started_at = to.started_at;
        self.updated_at = self.updated_at.max(to.updated_at);
    }
}

/// As much of the text as fits into so many bytes.
pub fn within(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
