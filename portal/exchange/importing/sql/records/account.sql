SELECT username AS key, jsonb_build_object('name', name, 'email', email) AS fields
FROM accounts WHERE deleted_at IS NULL
