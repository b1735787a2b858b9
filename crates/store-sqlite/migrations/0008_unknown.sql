-- Records of which nobody knows the outcome, to be counted; almost always empty.
CREATE INDEX records_unknown ON records (created_at, scope, key) WHERE state = 'UNKNOWN';
