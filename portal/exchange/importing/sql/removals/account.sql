UPDATE accounts SET deleted_at = now(), session_epoch = session_epoch + 1
FROM gone WHERE accounts.username = gone.key AND NOT is_admin;
