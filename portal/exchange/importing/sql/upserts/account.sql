INSERT INTO accounts (username, name, email, password_hash, is_admin, session_epoch)
SELECT key, after ->> 'name', coalesce(after ->> 'email', ''), '', false, 1 FROM changed_rows
ON CONFLICT (username) DO UPDATE
SET name = excluded.name, email = excluded.email, deleted_at = NULL;
