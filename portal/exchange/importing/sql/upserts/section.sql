INSERT INTO sections (term_id, course_id, crn, credits_min, credits_max, prior_enrolled, pool_id,
    status, version, {plain_columns})
SELECT terms.id, courses.id, split_part(key, E'\t', 2),
    coalesce((after -> 'credits' ->> 0)::int / 100.0, courses.credits_min),
    coalesce((after -> 'credits' ->> 1)::int / 100.0, courses.credits_max),
    coalesce((after ->> 'prior')::int, 0), pools.id, coalesce(after ->> 'status', 'NEW'), 1,
    {plain_values}
FROM changed_rows
JOIN terms ON terms.name = split_part(key, E'\t', 1)
JOIN courses ON courses.code = after ->> 'course'
LEFT JOIN pools ON pools.term_id = terms.id AND pools.name = after ->> 'pool'
ON CONFLICT (term_id, crn) DO UPDATE SET course_id = excluded.course_id,
    credits_min = excluded.credits_min, credits_max = excluded.credits_max,
    pool_id = excluded.pool_id, status = excluded.status, version = sections.version + 1,
    deleted_at = NULL, {plain_updates};

DELETE FROM meetings USING changed_rows JOIN section_keys USING (key)
WHERE section_id = section_keys.id;

DELETE FROM restrictions USING changed_rows JOIN section_keys USING (key)
WHERE section_id = section_keys.id;

DELETE FROM cross_lists USING changed_rows JOIN section_keys USING (key)
WHERE section_id = section_keys.id;

INSERT INTO rooms (name)
SELECT DISTINCT meeting ->> 6
FROM changed_rows, jsonb_array_elements(after -> 'meetings') AS meeting
WHERE meeting ->> 6 <> ''
ON CONFLICT (name) DO NOTHING;

INSERT INTO meetings (section_id, position, kind, days, starts_at, ends_at, date_start,
    date_end, room_id, clashes)
SELECT section_keys.id, position, meeting ->> 0, (meeting ->> 1)::int,
    (meeting ->> 2)::time, (meeting ->> 3)::time, (meeting ->> 4)::date,
    (meeting ->> 5)::date, rooms.id, (meeting ->> 7)::boolean
FROM changed_rows JOIN section_keys USING (key)
CROSS JOIN jsonb_array_elements(after -> 'meetings')
    WITH ORDINALITY AS listed(meeting, position)
LEFT JOIN rooms ON rooms.name = meeting ->> 6;

INSERT INTO restrictions (section_id, rule, kind, value)
SELECT section_keys.id, rule ->> 0, rule ->> 1, rule ->> 2
FROM changed_rows JOIN section_keys USING (key)
CROSS JOIN jsonb_array_elements(after -> 'restrictions') AS listed(rule);

INSERT INTO cross_lists (section_id, course_code)
SELECT section_keys.id, code
FROM changed_rows JOIN section_keys USING (key)
CROSS JOIN jsonb_array_elements_text(after -> 'cross_lists') AS listed(code);

UPDATE pools SET version = pools.version + 1
FROM (
    SELECT DISTINCT terms.id AS term_id, either.name
    FROM changed_rows JOIN terms ON terms.name = split_part(key, E'\t', 1)
    CROSS JOIN LATERAL (VALUES (before ->> 'pool'), (after ->> 'pool')) AS either(name)
    WHERE before ->> 'pool' IS DISTINCT FROM after ->> 'pool'
) AS moved
WHERE pools.term_id = moved.term_id AND pools.name = moved.name;

-- What is kept for the same students keeps its id: by it the ledger counts the seats given.
WITH wanted AS (
    SELECT section_keys.id AS section_id, position, reserve -> 1 AS cohort,
        (reserve ->> 0)::int AS seats, (reserve ->> 2)::timestamptz AS until,
        row_number() OVER (PARTITION BY section_keys.id, reserve -> 1 ORDER BY position) AS nth
    FROM changed_rows JOIN section_keys USING (key)
    CROSS JOIN jsonb_array_elements(after -> 'reserves')
        WITH ORDINALITY AS listed(reserve, position)
    WHERE before -> 'reserves' IS DISTINCT FROM after -> 'reserves'
), known AS (
    SELECT reserves.id, section_id, cohort,
        row_number() OVER (PARTITION BY section_id, cohort ORDER BY position, reserves.id) AS nth
    FROM reserves JOIN section_keys ON section_keys.id = section_id JOIN changed_rows USING (key)
    WHERE before -> 'reserves' IS DISTINCT FROM after -> 'reserves'
), same AS (
    SELECT * FROM known JOIN wanted USING (section_id, cohort, nth)
), let_go AS (
    DELETE FROM reserves USING known
    WHERE reserves.id = known.id AND known.id NOT IN (SELECT id FROM same)
), changed AS (
    UPDATE reserves SET position = same.position, seats = same.seats, until = same.until
    FROM same WHERE reserves.id = same.id
)
INSERT INTO reserves (section_id, position, seats, cohort, until)
SELECT section_id, position, seats, cohort, until FROM wanted
WHERE (section_id, cohort, nth) NOT IN (SELECT section_id, cohort, nth FROM same);
