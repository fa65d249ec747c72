CREATE TABLE `fences` (
	`account_id` text PRIMARY KEY NOT NULL,
	`turn` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `moves` (
	`account_id` text PRIMARY KEY NOT NULL,
	`source` text NOT NULL,
	`target` text NOT NULL,
	`phase` text NOT NULL,
	`step` integer NOT NULL,
	`cursor` text,
	`turn` integer NOT NULL,
	`flipped_at` integer,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `audit_entries` ADD `in_directory` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `receipts` ADD `in_directory` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- A fence refuses every write of what the organization owns here, whatever makes it: docs/decisions/0027.
CREATE TRIGGER `fence_insert_of_rooms` BEFORE INSERT ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_rooms` BEFORE UPDATE ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_rooms` BEFORE DELETE ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_users` BEFORE INSERT ON `users` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_users` BEFORE UPDATE ON `users` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_users` BEFORE DELETE ON `users` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_files` BEFORE INSERT ON `files` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_files` BEFORE UPDATE ON `files` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_files` BEFORE DELETE ON `files` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_webhooks` BEFORE INSERT ON `webhooks` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_webhooks` BEFORE UPDATE ON `webhooks` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_webhooks` BEFORE DELETE ON `webhooks` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_workflows` BEFORE INSERT ON `workflows` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_workflows` BEFORE UPDATE ON `workflows` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_workflows` BEFORE DELETE ON `workflows` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_workflow_versions` BEFORE INSERT ON `workflow_versions` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_workflow_versions` BEFORE UPDATE ON `workflow_versions` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_workflow_versions` BEFORE DELETE ON `workflow_versions` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_workflow_secrets` BEFORE INSERT ON `workflow_secrets` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_workflow_secrets` BEFORE UPDATE ON `workflow_secrets` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_workflow_secrets` BEFORE DELETE ON `workflow_secrets` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_retired_scripts` BEFORE INSERT ON `retired_scripts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_retired_scripts` BEFORE UPDATE ON `retired_scripts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_retired_scripts` BEFORE DELETE ON `retired_scripts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_outbox` BEFORE INSERT ON `outbox` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_outbox` BEFORE UPDATE ON `outbox` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_outbox` BEFORE DELETE ON `outbox` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_outbox_events` BEFORE INSERT ON `outbox_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_outbox_events` BEFORE UPDATE ON `outbox_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_outbox_events` BEFORE DELETE ON `outbox_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_user_events` BEFORE INSERT ON `user_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_user_events` BEFORE UPDATE ON `user_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_user_events` BEFORE DELETE ON `user_events` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_hourly_counts` BEFORE INSERT ON `hourly_counts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_hourly_counts` BEFORE UPDATE ON `hourly_counts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_hourly_counts` BEFORE DELETE ON `hourly_counts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_audit_entries` BEFORE INSERT ON `audit_entries` WHEN new.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_audit_entries` BEFORE UPDATE ON `audit_entries` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_audit_entries` BEFORE DELETE ON `audit_entries` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_receipts` BEFORE INSERT ON `receipts` WHEN new.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = substr(new.`scope`, 1, 36)) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_receipts` BEFORE UPDATE ON `receipts` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = substr(old.`scope`, 1, 36)) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_receipts` BEFORE DELETE ON `receipts` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = substr(old.`scope`, 1, 36)) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_token_epoch_of_accounts` BEFORE UPDATE OF `token_epoch` ON `accounts` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_limit_of_quotas` BEFORE UPDATE OF `max` ON `quotas` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
