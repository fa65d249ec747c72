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
ALTER TABLE `rooms` ADD `joining_until` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `identity_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `users_identity` ON `users` (`account_id`,`identity_id`,`room_id`) WHERE identity_id IS NOT NULL;
--> statement-breakpoint
-- From here on: triggers, which drizzle cannot express. They count the use of quotas, and a fence refuses writes.
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `accounts`.`id`, `names`.`value`, 0 FROM `accounts` CROSS JOIN json_each('["identities", "groups", "group_members", "access_entries", "links", "guests"]') AS `names`;
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
