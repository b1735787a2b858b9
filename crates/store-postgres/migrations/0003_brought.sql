-- Entries of a run's journal whose tasks are in the index, by whichever node they were brought: they come
-- in any order. Of runs that lie here already nothing is known, so they are compared once.
ALTER TABLE runs ADD COLUMN brought int8multirange NOT NULL DEFAULT '{}';
-- The end of a journal from which all tasks of the run were written anew: what is older comes too late.
ALTER TABLE runs ADD COLUMN emptied_at bigint NOT NULL DEFAULT 0;
