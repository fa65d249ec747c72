CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`change` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_by_account` ON `outbox` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `outbox_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`event` text NOT NULL,
	`room_id` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`room` text NOT NULL,
	`subject` text NOT NULL,
	`owed` text NOT NULL,
	`trace` text
);
--> statement-breakpoint
CREATE INDEX `outbox_events_by_account` ON `outbox_events` (`account_id`,`occurred_at`);--> statement-breakpoint
CREATE TABLE `access_defaults` (
	`account_id` text PRIMARY KEY NOT NULL,
	`permissions` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `room_access` (
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`permissions` text NOT NULL,
	PRIMARY KEY(`account_id`, `room_id`, `kind`, `subject_id`),
	FOREIGN KEY (`account_id`,`room_id`) REFERENCES `rooms`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `room_access_of_subject` ON `room_access` (`account_id`,`kind`,`subject_id`,`room_id`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`last_four` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`created_by_key` text,
	`permissions` text,
	`rooms` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_newest` ON `api_keys` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_name` ON `api_keys` (`account_id`,name COLLATE NOCASE,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_use` ON `api_keys` (`account_id`,coalesce(last_used_at, 0),`id`);--> statement-breakpoint
CREATE TABLE `operator_tokens` (
	`account_id` text NOT NULL,
	`purpose` text NOT NULL,
	`hash` text NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `purpose`)
);
--> statement-breakpoint
CREATE INDEX `operator_tokens_oldest` ON `operator_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `restores` (
	`account_id` text PRIMARY KEY NOT NULL,
	`backup_id` text NOT NULL,
	`place` text NOT NULL,
	`fencing_token` integer NOT NULL,
	`token_epoch` integer NOT NULL,
	`position` text DEFAULT '' NOT NULL,
	`started_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `copies` (
	`started_at` integer PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`position` text NOT NULL,
	`taken_until` integer DEFAULT 0 NOT NULL,
	`problem` text
);
--> statement-breakpoint
CREATE TABLE `files` (
	`key` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`filename` text NOT NULL,
	`mime_type` text NOT NULL,
	`media_type` text NOT NULL,
	`size` integer NOT NULL,
	`uploaded_by` text NOT NULL,
	`uploaded_at` integer NOT NULL,
	`state` text NOT NULL,
	`upload_id` text
);
--> statement-breakpoint
CREATE INDEX `files_newest` ON `files` (`account_id`,`room_id`,uploaded_at DESC,key DESC) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `files_by_name` ON `files` (`account_id`,`room_id`,filename COLLATE NOCASE,`key`) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `files_by_size` ON `files` (`account_id`,`room_id`,`size`,`key`) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `files_of_account` ON `files` (`account_id`,uploaded_at DESC,key DESC) WHERE state = 'stored';--> statement-breakpoint
CREATE INDEX `files_unsettled` ON `files` (`state`,`uploaded_at`) WHERE state <> 'stored';--> statement-breakpoint
CREATE TABLE `group_members` (
	`account_id` text NOT NULL,
	`group_id` text NOT NULL,
	`identity_id` text NOT NULL,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `group_id`, `identity_id`),
	FOREIGN KEY (`account_id`,`group_id`) REFERENCES `identity_groups`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`,`identity_id`) REFERENCES `identities`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `group_members_of_identity` ON `group_members` (`account_id`,`identity_id`,`group_id`);--> statement-breakpoint
CREATE INDEX `group_members_newest` ON `group_members` (`account_id`,`group_id`,added_at DESC,identity_id DESC);--> statement-breakpoint
CREATE TABLE `identities` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`custom_id` text,
	`profile_picture` text,
	`email` text,
	`created_at` integer NOT NULL,
	`token_epoch` integer DEFAULT 0 NOT NULL,
	`link_id` text,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`account_id`,`link_id`) REFERENCES `room_links`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `identities_of_link` ON `identities` (`account_id`,`link_id`,`id`) WHERE link_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `identities_custom_id` ON `identities` (`account_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `identities_newest` ON `identities` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `identities_by_name` ON `identities` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `identities_agents` ON `identities` (`account_id`,`id`) WHERE kind = 'agent';--> statement-breakpoint
CREATE TABLE `identity_groups` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`custom_id` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identity_groups_custom_id` ON `identity_groups` (`account_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `identity_groups_newest` ON `identity_groups` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `identity_groups_by_name` ON `identity_groups` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE TABLE `room_links` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`room_id` text NOT NULL,
	`secret_hash` text NOT NULL,
	`permissions` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`max_uses` integer NOT NULL,
	`uses` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`,`room_id`) REFERENCES `rooms`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `room_links_secret` ON `room_links` (`account_id`,`secret_hash`);--> statement-breakpoint
CREATE INDEX `room_links_newest` ON `room_links` (`account_id`,`room_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `room_links_expiring` ON `room_links` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `notification_defaults` (
	`account_id` text PRIMARY KEY NOT NULL,
	`defaults` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `mail_counts` (
	`account_id` text NOT NULL,
	`recipient` text NOT NULL,
	`hour` integer NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`account_id`, `recipient`, `hour`)
);
--> statement-breakpoint
CREATE INDEX `mail_counts_oldest` ON `mail_counts` (`hour`);--> statement-breakpoint
CREATE TABLE `mails` (
	`id` text NOT NULL,
	`recipient` text NOT NULL,
	`account_id` text,
	`topic` text NOT NULL,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`due_at` integer,
	`uncertain` integer DEFAULT 0 NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`id`, `recipient`)
);
--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`due_at`);--> statement-breakpoint
CREATE INDEX `mails_oldest` ON `mails` (`expires_at`);--> statement-breakpoint
CREATE INDEX `mails_recipient` ON `mails` (`recipient`);--> statement-breakpoint
CREATE INDEX `mails_topic` ON `mails` (`account_id`,`topic`,`created_at`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`role` text NOT NULL,
	`email` text,
	`token_hash` text NOT NULL,
	`invited_by` text,
	`invited_by_key` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`invited_by`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitations_newest` ON `invitations` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_oldest` ON `invitations` (`expires_at`);--> statement-breakpoint
CREATE INDEX `invitations_inviter` ON `invitations` (`invited_by`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`account_id` text NOT NULL,
	`person_id` text NOT NULL,
	`role` text NOT NULL,
	`joined_at` integer NOT NULL,
	`name` text DEFAULT '' NOT NULL,
	`email` text DEFAULT '' NOT NULL,
	`notices` integer DEFAULT 1 NOT NULL,
	PRIMARY KEY(`account_id`, `person_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `memberships_person` ON `memberships` (`person_id`,`joined_at`);--> statement-breakpoint
CREATE INDEX `memberships_joined` ON `memberships` (`account_id`,`joined_at`,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_name` ON `memberships` (`account_id`,name COLLATE NOCASE,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_email` ON `memberships` (`account_id`,`email`,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_role` ON `memberships` (`account_id`,`role`,`person_id`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`name` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`challenged_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_person` ON `passkeys` (`person_id`);--> statement-breakpoint
CREATE TABLE `credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`provider_account_id` text NOT NULL,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `credentials_of_provider` ON `credentials` (`provider_id`,`provider_account_id`);--> statement-breakpoint
CREATE INDEX `credentials_person` ON `credentials` (`person_id`);--> statement-breakpoint
CREATE TABLE `password_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`account_id` text,
	`created_by` text,
	`created_by_key` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `password_links_person` ON `password_links` (`person_id`);--> statement-breakpoint
CREATE INDEX `password_links_oldest` ON `password_links` (`expires_at`);--> statement-breakpoint
CREATE INDEX `password_links_maker` ON `password_links` (`created_by`);--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_email_unique` ON `people` (`email`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`person_id` text NOT NULL,
	`browser` text,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_hash_unique` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_person` ON `sessions` (`person_id`);--> statement-breakpoint
CREATE INDEX `sessions_oldest` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `backlogs` (
	`account_id` text NOT NULL,
	`subscriber_id` text NOT NULL,
	`events` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `subscriber_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `quotas` (
	`account_id` text NOT NULL,
	`quota` text NOT NULL,
	`used` integer NOT NULL,
	`max` integer,
	`in_directory` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `quota`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `rooms` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`custom_id` text,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`ends_at` integer,
	`limits` text,
	`first_join_at` integer,
	`total_users_created` integer DEFAULT 0 NOT NULL,
	`user_count` integer DEFAULT 0 NOT NULL,
	`active_participants` integer DEFAULT 0 NOT NULL,
	`occupied_ms` integer DEFAULT 0 NOT NULL,
	`occupied_since` integer,
	`last_active_at` integer DEFAULT 0 NOT NULL,
	`store_bytes` integer DEFAULT 0 NOT NULL,
	`file_count` integer DEFAULT 0 NOT NULL,
	`file_bytes` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer,
	`stats_version` integer DEFAULT 0 NOT NULL,
	`joining_until` integer DEFAULT 0 NOT NULL,
	`watched_until` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `rooms_custom_id` ON `rooms` (`account_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `rooms_newest` ON `rooms` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `rooms_by_name` ON `rooms` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `rooms_last_active` ON `rooms` (`account_id`,`last_active_at`,`id`);--> statement-breakpoint
CREATE INDEX `rooms_closed` ON `rooms` (`account_id`,created_at DESC,id DESC) WHERE state = 'closed';--> statement-breakpoint
CREATE INDEX `rooms_online` ON `rooms` (`account_id`,created_at DESC,id DESC) WHERE active_participants > 0;--> statement-breakpoint
CREATE INDEX `rooms_expiring` ON `rooms` (`ends_at`) WHERE ends_at IS NOT NULL AND deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `rooms_deleted` ON `rooms` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `rooms_joined` ON `rooms` (`account_id`,`first_join_at`) WHERE first_join_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `rooms_watched` ON `rooms` (`account_id`,`watched_until`) WHERE watched_until > 0;--> statement-breakpoint
CREATE TABLE `search_items` (
	`doc` integer PRIMARY KEY NOT NULL,
	`list` integer NOT NULL,
	`item` text NOT NULL,
	`name` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_items_of_list` ON `search_items` (`list`,`item`);--> statement-breakpoint
CREATE TABLE `search_lists` (
	`number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`state` text NOT NULL,
	`built_time` integer DEFAULT 9007199254740991 NOT NULL,
	`built_id` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `search_lists_kept` ON `search_lists` (`account_id`,`room_id`) WHERE state <> 'removed';--> statement-breakpoint
CREATE INDEX `search_lists_unfinished` ON `search_lists` (`number`) WHERE state <> 'complete';--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`person_id` text NOT NULL,
	`code_hash` text NOT NULL,
	PRIMARY KEY(`person_id`, `code_hash`),
	FOREIGN KEY (`person_id`) REFERENCES `second_factors`(`person_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `second_factors` (
	`person_id` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	`last_step` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `second_factors_key` ON `second_factors` (`key_id`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`room_id` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`profile_picture` text,
	`custom_id` text,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	`token_epoch` integer DEFAULT 0 NOT NULL,
	`identity_id` text,
	`kind` text,
	FOREIGN KEY (`account_id`,`room_id`) REFERENCES `rooms`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_custom_id` ON `users` (`account_id`,`room_id`,`custom_id`) WHERE custom_id IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `users_identity` ON `users` (`account_id`,`identity_id`,`room_id`) WHERE identity_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `users_newest` ON `users` (`account_id`,`room_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`account_id`,`room_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`url` text NOT NULL,
	`url_folded` text NOT NULL,
	`own_host` text NOT NULL,
	`events` text NOT NULL,
	`room_id` text,
	`identity_id` text,
	`batch` text,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_until` integer,
	`backlogged_since` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhooks_secret` ON `webhooks` (`secret`);--> statement-breakpoint
CREATE INDEX `webhooks_previous_secret` ON `webhooks` (`previous_secret`);--> statement-breakpoint
CREATE INDEX `webhooks_newest` ON `webhooks` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `webhooks_by_url` ON `webhooks` (`account_id`,`url_folded`,`id`);--> statement-breakpoint
CREATE INDEX `webhooks_updated` ON `webhooks` (`account_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE TABLE `retired_scripts` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`hash` text NOT NULL,
	`retired_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `hash`)
);
--> statement-breakpoint
CREATE INDEX `retired_scripts_oldest` ON `retired_scripts` (`retired_at`);--> statement-breakpoint
CREATE TABLE `workflow_secrets` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`key_id` text NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `name`),
	FOREIGN KEY (`account_id`,`workflow_id`) REFERENCES `workflows`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `workflow_secrets_by_key` ON `workflow_secrets` (`key_id`);--> statement-breakpoint
CREATE TABLE `workflow_versions` (
	`account_id` text NOT NULL,
	`workflow_id` text NOT NULL,
	`version` integer NOT NULL,
	`saved_at` integer NOT NULL,
	`author_type` text,
	`author_id` text,
	`code` text NOT NULL,
	PRIMARY KEY(`account_id`, `workflow_id`, `version`),
	FOREIGN KEY (`account_id`,`workflow_id`) REFERENCES `workflows`(`account_id`,`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `workflows` (
	`account_id` text NOT NULL,
	`id` text NOT NULL,
	`events` text NOT NULL,
	`room_id` text,
	`enabled` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`hash` text NOT NULL,
	`origin` text NOT NULL,
	`name` text NOT NULL,
	`name_folded` text NOT NULL,
	`problem_at_run` text,
	`version` integer DEFAULT 1 NOT NULL,
	`retries` integer DEFAULT 0 NOT NULL,
	`disabled_reason` text,
	`schedule` text,
	`http_trigger` integer DEFAULT 0 NOT NULL,
	`trigger_secret_at` integer,
	`trigger_secret` text,
	`previous_trigger_secret` text,
	`previous_trigger_secret_until` integer,
	`code` text NOT NULL,
	`module` text NOT NULL,
	PRIMARY KEY(`account_id`, `id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `workflows_trigger_secret` ON `workflows` (`trigger_secret`);--> statement-breakpoint
CREATE INDEX `workflows_previous_trigger_secret` ON `workflows` (`previous_trigger_secret`);--> statement-breakpoint
CREATE INDEX `workflows_newest` ON `workflows` (`account_id`,created_at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `workflows_by_name` ON `workflows` (`account_id`,`name_folded`,`id`);--> statement-breakpoint
CREATE INDEX `workflows_updated` ON `workflows` (`account_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`operation` text NOT NULL,
	`resource` text NOT NULL,
	`resource_id` text,
	`changes` text NOT NULL,
	`address` text,
	`request_id` text,
	`changes_before` integer NOT NULL,
	`in_directory` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_entries_newest` ON `audit_entries` (`account_id`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_actor` ON `audit_entries` (`account_id`,`actor_id`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_resource` ON `audit_entries` (`account_id`,`resource`,at DESC,id DESC);--> statement-breakpoint
CREATE INDEX `audit_entries_oldest` ON `audit_entries` (`at`);--> statement-breakpoint
CREATE TABLE `receipts` (
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`data` text,
	`created_at` integer NOT NULL,
	`in_directory` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`scope`, `key`)
);
--> statement-breakpoint
CREATE INDEX `receipts_oldest` ON `receipts` (`created_at`);--> statement-breakpoint
CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`token_epoch` integer DEFAULT 0 NOT NULL,
	`deleted_at` integer,
	`database` text DEFAULT 'DB' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `accounts_deleted` ON `accounts` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `data_locations` (
	`id` integer PRIMARY KEY NOT NULL,
	`location` text NOT NULL,
	`jurisdiction` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `fences` (
	`account_id` text PRIMARY KEY NOT NULL,
	`fencing_token` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `moves` (
	`account_id` text PRIMARY KEY NOT NULL,
	`source` text NOT NULL,
	`target` text NOT NULL,
	`phase` text NOT NULL,
	`step` integer NOT NULL,
	`cursor` text,
	`fencing_token` integer NOT NULL,
	`flipped_at` integer,
	`started_at` integer NOT NULL
);--> statement-breakpoint
-- From here on: triggers and virtual tables, which drizzle cannot express. Triggers count the use of quotas, for each writer alike.
CREATE TRIGGER `quotas_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'rooms', 0), (new.`id`, 'users', 0), (new.`id`, 'webhooks', 0), (new.`id`, 'workflows', 0), (new.`id`, 'file_bytes', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_webhooks` AFTER INSERT ON `webhooks` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'webhooks';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_webhooks` AFTER DELETE ON `webhooks` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'webhooks';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_workflows` AFTER INSERT ON `workflows` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'workflows';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_workflows` AFTER DELETE ON `workflows` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'workflows';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'online_users', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_after_update_of_rooms` AFTER UPDATE OF `active_participants` ON `rooms` WHEN old.`active_participants` <> new.`active_participants` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`active_participants` - old.`active_participants` WHERE `account_id` = new.`account_id` AND `quota` = 'online_users';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_users_online_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`active_participants` <> 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`active_participants` WHERE `account_id` = old.`account_id` AND `quota` = 'online_users';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'store_bytes', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_after_update_of_rooms` AFTER UPDATE OF `store_bytes` ON `rooms` WHEN old.`store_bytes` <> new.`store_bytes` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`store_bytes` - old.`store_bytes` WHERE `account_id` = new.`account_id` AND `quota` = 'store_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quota_of_store_bytes_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`store_bytes` <> 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`store_bytes` WHERE `account_id` = old.`account_id` AND `quota` = 'store_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_insert_of_users` AFTER INSERT ON `users` BEGIN
  UPDATE `rooms` SET `user_count` = `user_count` + 1 WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_delete_of_users` AFTER DELETE ON `users` BEGIN
  UPDATE `rooms` SET `user_count` = `user_count` - 1 WHERE `account_id` = old.`account_id` AND `id` = old.`room_id`;
END;
--> statement-breakpoint
-- The search index: two FTS5 tables, which triggers keep equal to search_items, and search_items equal to long lists.
CREATE VIRTUAL TABLE `search_names` USING fts5(`name`, content='', contentless_delete=1, tokenize='trigram case_sensitive 1');
--> statement-breakpoint
CREATE VIRTUAL TABLE `search_grams` USING fts5(`grams`, content='', contentless_delete=1, detail=none, tokenize='ascii');
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_search_items` AFTER INSERT ON `search_items` BEGIN
  INSERT INTO `search_names` (`rowid`, `name`) VALUES (new.`doc`, new.`name`);
  INSERT INTO `search_grams` (`rowid`, `grams`) SELECT new.`doc`, group_concat(hex(substr(new.`name`, `key` + 1, 1)) || ' ' || hex(substr(new.`name`, `key` + 1, 2)), ' ') FROM json_each('[0' || replace(hex(zeroblob(length(new.`name`) - 1)), '00', ',0') || ']');
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_update_of_search_items` AFTER UPDATE OF `name` ON `search_items` BEGIN
  DELETE FROM `search_names` WHERE `rowid` = old.`doc`;
  DELETE FROM `search_grams` WHERE `rowid` = old.`doc`;
  INSERT INTO `search_names` (`rowid`, `name`) VALUES (new.`doc`, new.`name`);
  INSERT INTO `search_grams` (`rowid`, `grams`) SELECT new.`doc`, group_concat(hex(substr(new.`name`, `key` + 1, 1)) || ' ' || hex(substr(new.`name`, `key` + 1, 2)), ' ') FROM json_each('[0' || replace(hex(zeroblob(length(new.`name`) - 1)), '00', ',0') || ']');
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_delete_of_search_items` AFTER DELETE ON `search_items` BEGIN
  DELETE FROM `search_names` WHERE `rowid` = old.`doc`;
  DELETE FROM `search_grams` WHERE `rowid` = old.`doc`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_update_of_rooms` AFTER UPDATE OF `name_folded` ON `rooms` WHEN new.`name_folded` <> old.`name_folded` BEGIN
  UPDATE `search_items` SET `name` = new.`name_folded` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_delete_of_rooms` AFTER DELETE ON `rooms` BEGIN
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = old.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND `item` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_users` AFTER INSERT ON `users` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = new.`room_id` AND `state` <> 'removed') BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = new.`room_id` AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_update_of_users` AFTER UPDATE OF `name_folded` ON `users` WHEN new.`name_folded` <> old.`name_folded` BEGIN
  UPDATE `search_items` SET `name` = new.`name_folded` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = new.`room_id` AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_delete_of_users` AFTER DELETE ON `users` BEGIN
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = old.`account_id` AND `room_id` = old.`room_id` AND `state` <> 'removed') AND `item` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_lists_of_long_rooms` AFTER UPDATE OF `user_count` ON `rooms` WHEN new.`user_count` > 10000 AND old.`user_count` <= 10000 BEGIN
  INSERT INTO `search_lists` (`account_id`, `room_id`, `state`) SELECT new.`account_id`, new.`id`, 'building' WHERE NOT EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = new.`id` AND `state` <> 'removed');
END;
--> statement-breakpoint
CREATE TRIGGER `search_lists_of_large_accounts` AFTER UPDATE OF `used` ON `quotas` WHEN new.`quota` = 'rooms' AND new.`used` > 10000 AND old.`used` <= 10000 BEGIN
  INSERT INTO `search_lists` (`account_id`, `room_id`, `state`) SELECT new.`account_id`, '', 'building' WHERE NOT EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed');
END;
--> statement-breakpoint
CREATE TRIGGER `search_lists_of_deleted_rooms` BEFORE DELETE ON `rooms` BEGIN
  UPDATE `search_lists` SET `state` = 'removed' WHERE `account_id` = old.`account_id` AND `room_id` = old.`id` AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `search_lists_of_deleted_accounts` BEFORE DELETE ON `quotas` WHEN old.`quota` = 'rooms' BEGIN
  UPDATE `search_lists` SET `state` = 'removed' WHERE `account_id` = old.`account_id` AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'online_rooms', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_after_update_of_rooms` AFTER UPDATE OF `active_participants` ON `rooms` WHEN (old.`active_participants` > 0) <> (new.`active_participants` > 0) BEGIN
  UPDATE `quotas` SET `used` = `used` + iif(new.`active_participants` > 0, 1, -1) WHERE `account_id` = new.`account_id` AND `quota` = 'online_rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `count_of_rooms_online_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`active_participants` > 0 BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'online_rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_insert_of_files` AFTER INSERT ON `files` WHEN new.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` + 1, `file_bytes` = `file_bytes` + new.`size` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_update_of_files` AFTER UPDATE OF `state`, `size` ON `files` WHEN old.`state` = 'stored' OR new.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` + (new.`state` = 'stored') - (old.`state` = 'stored'), `file_bytes` = `file_bytes` + iif(new.`state` = 'stored', new.`size`, 0) - iif(old.`state` = 'stored', old.`size`, 0) WHERE `account_id` = new.`account_id` AND `id` = new.`room_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `rooms_after_delete_of_files` AFTER DELETE ON `files` WHEN old.`state` = 'stored' BEGIN
  UPDATE `rooms` SET `file_count` = `file_count` - 1, `file_bytes` = `file_bytes` - old.`size` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id`;
END;
--> statement-breakpoint
-- A room leaves every count when it is marked as deleted, before its rows are removed in slices: docs/decisions/0044.
CREATE TRIGGER `counts_after_marking_of_rooms` AFTER UPDATE OF `deleted_at` ON `rooms` WHEN old.`deleted_at` IS NULL AND new.`deleted_at` IS NOT NULL BEGIN
  UPDATE `quotas` SET `used` = `used` - CASE `quota` WHEN 'rooms' THEN 1 WHEN 'users' THEN new.`user_count` ELSE new.`file_bytes` END WHERE `account_id` = new.`account_id` AND `quota` IN ('rooms', 'users', 'file_bytes');
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_marking_of_rooms` AFTER UPDATE OF `deleted_at` ON `rooms` WHEN old.`deleted_at` IS NULL AND new.`deleted_at` IS NOT NULL BEGIN
  UPDATE `search_lists` SET `state` = 'removed' WHERE `account_id` = new.`account_id` AND `room_id` = new.`id` AND `state` <> 'removed';
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_rooms` AFTER INSERT ON `rooms` WHEN new.`deleted_at` IS NULL BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_rooms` AFTER DELETE ON `rooms` WHEN old.`deleted_at` IS NULL BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'rooms';
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_rooms` AFTER INSERT ON `rooms` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') AND new.`deleted_at` IS NULL BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_users` AFTER INSERT ON `users` WHEN NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_users` AFTER DELETE ON `users` WHEN NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'users';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_files` AFTER INSERT ON `files` WHEN new.`state` = 'stored' AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`size` WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_update_of_files` AFTER UPDATE OF `state`, `size` ON `files` WHEN (old.`state` = 'stored' OR new.`state` = 'stored') AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = new.`account_id` AND `id` = new.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` + iif(new.`state` = 'stored', new.`size`, 0) - iif(old.`state` = 'stored', old.`size`, 0) WHERE `account_id` = new.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_files` AFTER DELETE ON `files` WHEN old.`state` = 'stored' AND NOT EXISTS (SELECT 1 FROM `rooms` WHERE `account_id` = old.`account_id` AND `id` = old.`room_id` AND `deleted_at` IS NOT NULL) BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`size` WHERE `account_id` = old.`account_id` AND `quota` = 'file_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_of_rates_and_backlogs_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'waiting_events', 0), (new.`id`, 'waiting_bytes', 0), (new.`id`, 'backlogs', 0), (new.`id`, 'requests_per_second', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_backlogs` AFTER INSERT ON `backlogs` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`events` WHERE `account_id` = new.`account_id` AND `quota` = 'waiting_events';
  UPDATE `quotas` SET `used` = `used` + new.`bytes` WHERE `account_id` = new.`account_id` AND `quota` = 'waiting_bytes';
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'backlogs';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_update_of_backlogs` AFTER UPDATE ON `backlogs` BEGIN
  UPDATE `quotas` SET `used` = `used` + new.`events` - old.`events` WHERE `account_id` = new.`account_id` AND `quota` = 'waiting_events';
  UPDATE `quotas` SET `used` = `used` + new.`bytes` - old.`bytes` WHERE `account_id` = new.`account_id` AND `quota` = 'waiting_bytes';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_backlogs` AFTER DELETE ON `backlogs` BEGIN
  UPDATE `quotas` SET `used` = `used` - old.`events` WHERE `account_id` = old.`account_id` AND `quota` = 'waiting_events';
  UPDATE `quotas` SET `used` = `used` - old.`bytes` WHERE `account_id` = old.`account_id` AND `quota` = 'waiting_bytes';
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'backlogs';
END;
--> statement-breakpoint
CREATE TRIGGER `backlogs_after_delete_of_webhooks` AFTER DELETE ON `webhooks` BEGIN
  DELETE FROM `backlogs` WHERE `account_id` = old.`account_id` AND `subscriber_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `backlogs_after_delete_of_workflows` AFTER DELETE ON `workflows` BEGIN
  DELETE FROM `backlogs` WHERE `account_id` = old.`account_id` AND `subscriber_id` = old.`id`;
END;
--> statement-breakpoint
-- A membership copies name and address of its person, so that an index serves the list of members in any order.
CREATE TRIGGER `person_of_new_membership` AFTER INSERT ON `memberships` BEGIN
  UPDATE `memberships` SET (`name`, `email`) = (SELECT `name`, `email` FROM `people` WHERE `id` = new.`person_id`) WHERE `account_id` = new.`account_id` AND `person_id` = new.`person_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `memberships_after_update_of_people` AFTER UPDATE OF `name`, `email` ON `people` BEGIN
  UPDATE `memberships` SET `name` = new.`name`, `email` = new.`email` WHERE `person_id` = new.`id`;
END;
--> statement-breakpoint
-- The directory counts people and their access, wherever an organization is placed: docs/decisions/0045.
CREATE TRIGGER `quotas_of_people_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`, `in_directory`) VALUES (new.`id`, 'members', 0, 1), (new.`id`, 'invitations', 0, 1), (new.`id`, 'api_keys', 0, 1);
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_memberships` AFTER INSERT ON `memberships` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'members';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_memberships` AFTER DELETE ON `memberships` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'members';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_invitations` AFTER INSERT ON `invitations` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'invitations';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_invitations` AFTER DELETE ON `invitations` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'invitations';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_api_keys` AFTER INSERT ON `api_keys` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_api_keys` AFTER DELETE ON `api_keys` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'api_keys';
END;
--> statement-breakpoint
-- A fence refuses every write of the rows that an organization owns here: docs/decisions/0027.
CREATE TRIGGER `fence_insert_of_rooms` BEFORE INSERT ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
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
CREATE TRIGGER `fence_update_of_rooms` BEFORE UPDATE ON `rooms` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_backlogs` BEFORE INSERT ON `backlogs` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_backlogs` BEFORE UPDATE ON `backlogs` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_backlogs` BEFORE DELETE ON `backlogs` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_rate_of_quotas` BEFORE UPDATE OF `used` ON `quotas` WHEN old.`quota` = 'requests_per_second' AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
-- An organization that has left the directory's database has a fence there for good: its limits of people stay in the directory.
CREATE TRIGGER `fence_limit_of_quotas` BEFORE UPDATE OF `max` ON `quotas` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_of_identities_of_new_account` AFTER INSERT ON `accounts` BEGIN
  INSERT INTO `quotas` (`account_id`, `quota`, `used`) VALUES (new.`id`, 'identities', 0), (new.`id`, 'groups', 0), (new.`id`, 'group_members', 0), (new.`id`, 'access_entries', 0), (new.`id`, 'links', 0), (new.`id`, 'guests', 0);
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_identities` AFTER INSERT ON `identities` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = iif(new.`kind` = 'guest', 'guests', 'identities');
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_identities` AFTER DELETE ON `identities` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = iif(old.`kind` = 'guest', 'guests', 'identities');
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_identity_groups` AFTER INSERT ON `identity_groups` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'groups';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_identity_groups` AFTER DELETE ON `identity_groups` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'groups';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_group_members` AFTER INSERT ON `group_members` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'group_members';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_group_members` AFTER DELETE ON `group_members` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'group_members';
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_identities` BEFORE INSERT ON `identities` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_identities` BEFORE UPDATE ON `identities` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_identities` BEFORE DELETE ON `identities` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_identity_groups` BEFORE INSERT ON `identity_groups` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_identity_groups` BEFORE UPDATE ON `identity_groups` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_identity_groups` BEFORE DELETE ON `identity_groups` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_group_members` BEFORE INSERT ON `group_members` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_group_members` BEFORE UPDATE ON `group_members` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_group_members` BEFORE DELETE ON `group_members` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_room_access` AFTER INSERT ON `room_access` WHEN new.`kind` <> 'default' BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'access_entries';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_room_access` AFTER DELETE ON `room_access` WHEN old.`kind` <> 'default' BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'access_entries';
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_room_access` BEFORE INSERT ON `room_access` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_room_access` BEFORE UPDATE ON `room_access` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_room_access` BEFORE DELETE ON `room_access` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_access_defaults` BEFORE INSERT ON `access_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_access_defaults` BEFORE UPDATE ON `access_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_access_defaults` BEFORE DELETE ON `access_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `access_after_delete_of_identities` AFTER DELETE ON `identities` BEGIN
  DELETE FROM `room_access` WHERE `account_id` = old.`account_id` AND `kind` = 'identity' AND `subject_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `access_after_delete_of_identity_groups` AFTER DELETE ON `identity_groups` BEGIN
  DELETE FROM `room_access` WHERE `account_id` = old.`account_id` AND `kind` = 'group' AND `subject_id` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_insert_of_room_links` AFTER INSERT ON `room_links` BEGIN
  UPDATE `quotas` SET `used` = `used` + 1 WHERE `account_id` = new.`account_id` AND `quota` = 'links';
END;
--> statement-breakpoint
CREATE TRIGGER `quotas_after_delete_of_room_links` AFTER DELETE ON `room_links` BEGIN
  UPDATE `quotas` SET `used` = `used` - 1 WHERE `account_id` = old.`account_id` AND `quota` = 'links';
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_room_links` BEFORE INSERT ON `room_links` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_room_links` BEFORE UPDATE ON `room_links` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_room_links` BEFORE DELETE ON `room_links` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `links_after_deletion_of_rooms` AFTER UPDATE OF `deleted_at` ON `rooms` WHEN new.`deleted_at` IS NOT NULL BEGIN
  UPDATE `room_links` SET `expires_at` = min(coalesce(`expires_at`, new.`deleted_at`), new.`deleted_at`) WHERE `account_id` = new.`account_id` AND `room_id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_identities` AFTER INSERT ON `identities` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'identities' AND `state` <> 'removed') BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'identities' AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_update_of_identities` AFTER UPDATE OF `name_folded` ON `identities` WHEN new.`name_folded` <> old.`name_folded` BEGIN
  UPDATE `search_items` SET `name` = new.`name_folded` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'identities' AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_delete_of_identities` AFTER DELETE ON `identities` BEGIN
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = old.`account_id` AND `room_id` = 'identities' AND `state` <> 'removed') AND `item` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_insert_of_identity_groups` AFTER INSERT ON `identity_groups` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'groups' AND `state` <> 'removed') BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'groups' AND `state` <> 'removed';
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_update_of_identity_groups` AFTER UPDATE OF `name_folded` ON `identity_groups` WHEN new.`name_folded` <> old.`name_folded` BEGIN
  UPDATE `search_items` SET `name` = new.`name_folded` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = 'groups' AND `state` <> 'removed') AND `item` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_after_delete_of_identity_groups` AFTER DELETE ON `identity_groups` BEGIN
  DELETE FROM `search_items` WHERE `list` = (SELECT `number` FROM `search_lists` WHERE `account_id` = old.`account_id` AND `room_id` = 'groups' AND `state` <> 'removed') AND `item` = old.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `search_lists_of_many_identities` AFTER UPDATE OF `used` ON `quotas` WHEN new.`quota` IN ('identities', 'guests', 'groups') AND new.`used` > 10000 AND old.`used` <= 10000 BEGIN
  INSERT INTO `search_lists` (`account_id`, `room_id`, `state`) SELECT new.`account_id`, `name`, 'building' FROM (SELECT iif(new.`quota` = 'groups', 'groups', 'identities') AS `name`) WHERE NOT EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = `name` AND `state` <> 'removed');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_insert_of_notification_defaults` BEFORE INSERT ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = new.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_notification_defaults` BEFORE UPDATE ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_delete_of_notification_defaults` BEFORE DELETE ON `notification_defaults` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
CREATE TRIGGER `fence_update_of_users` BEFORE UPDATE ON `users` WHEN EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
--> statement-breakpoint
-- Rows without it come from backups, and from a version before: those of users before or after their identities.
CREATE TRIGGER `kind_after_insert_of_users` AFTER INSERT ON `users` WHEN new.`kind` IS NULL AND new.`identity_id` IS NOT NULL AND EXISTS (SELECT 1 FROM `identities` WHERE `account_id` = new.`account_id` AND `id` = new.`identity_id` AND `kind` <> 'person') BEGIN
  UPDATE `users` SET `kind` = (SELECT `kind` FROM `identities` WHERE `account_id` = new.`account_id` AND `id` = new.`identity_id`) WHERE `id` = new.`id`;
END;
--> statement-breakpoint
CREATE TRIGGER `kind_after_insert_of_identities` AFTER INSERT ON `identities` WHEN new.`kind` <> 'person' BEGIN
  UPDATE `users` SET `kind` = new.`kind` WHERE `account_id` = new.`account_id` AND `identity_id` = new.`id` AND `kind` IS NULL;
END;
