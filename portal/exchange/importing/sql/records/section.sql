SELECT terms.name || E'\t' || crn AS key, jsonb_build_object(
    {plain_record},
    'course', courses.code,
    'credits', jsonb_build_array(
        (sections.credits_min * 100)::int, (sections.credits_max * 100)::int
    ),
    'prior', prior_enrolled, 'status', status,
    'meetings', meetings.all, 'restrictions', restrictions.all,
    'cross_lists', cross_lists.all, 'pool', pools.name, 'reserves', reserves.all
) AS fields
FROM sections JOIN terms ON terms.id = term_id JOIN courses ON courses.id = course_id
LEFT JOIN pools ON pools.id = pool_id
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
        meetings.kind, days, starts_at, ends_at, date_start, date_end,
        coalesce(rooms.name, ''), clashes
    ) ORDER BY position), '[]') AS all
    FROM meetings LEFT JOIN rooms ON rooms.id = room_id WHERE section_id = sections.id
) AS meetings
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(rule, restrictions.kind, value) ORDER BY
        rule COLLATE "C", restrictions.kind COLLATE "C", value COLLATE "C"), '[]') AS all
    FROM restrictions WHERE section_id = sections.id
) AS restrictions
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(course_code ORDER BY course_code COLLATE "C"), '[]') AS all
    FROM cross_lists WHERE section_id = sections.id
) AS cross_lists
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(
        seats, cohort, to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ) ORDER BY position, id), '[]') AS all
    FROM reserves WHERE section_id = sections.id
) AS reserves
WHERE sections.deleted_at IS NULL AND terms.deleted_at IS NULL
