ALTER TABLE `quotas` ADD `in_directory` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `memberships` ADD `name` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `memberships` ADD `email` text DEFAULT '' NOT NULL;--> statement-breakpoint
UPDATE `memberships` SET (`name`, `email`) = (SELECT `name`, `email` FROM `people` WHERE `id` = `person_id`);--> statement-breakpoint
CREATE INDEX `memberships_joined` ON `memberships` (`account_id`,`joined_at`,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_name` ON `memberships` (`account_id`,name COLLATE NOCASE,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_email` ON `memberships` (`account_id`,`email`,`person_id`);--> statement-breakpoint
CREATE INDEX `memberships_by_role` ON `memberships` (`account_id`,`role`,`person_id`);--> statement-breakpoint
DROP INDEX `invitations_account`;--> statement-breakpoint
CREATE INDEX `invitations_newest` ON `invitations` (`account_id`,`created_at`,`id`);--> statement-breakpoint
DROP INDEX `api_keys_account`;--> statement-breakpoint
CREATE INDEX `api_keys_newest` ON `api_keys` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_name` ON `api_keys` (`account_id`,name COLLATE NOCASE,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_by_use` ON `api_keys` (`account_id`,coalesce(last_used_at, 0),`id`);--> statement-breakpoint
-- What a membership shows of its person, so that the list of members is read from an index in any order.
CREATE TRIGGER `person_of_new_membership` AFTER INSERT ON `memberships` BEGIN
  UPDATE `memberships` SET (`name`, `email`) = (SELECT `name`, `email` FROM `people` WHERE `id` = new.`person_id`) WHERE `account_id` = new.`account_id` AND `person_id` = new.`person_id`;
END;
--> statement-breakpoint
CREATE TRIGGER `memberships_after_update_of_people` AFTER UPDATE OF `name`, `email` ON `people` BEGIN
  UPDATE `memberships` SET `name` = new.`name`, `email` = new.`email` WHERE `person_id` = new.`id`;
END;
--> statement-breakpoint
-- The directory counts people and their access, wherever an organization is placed: docs/decisions/0045.
INSERT INTO `quotas` (`account_id`, `quota`, `used`, `in_directory`) SELECT `id`, 'members', (SELECT count(*) FROM `memberships` WHERE `account_id` = `accounts`.`id`), 1 FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`, `in_directory`) SELECT `id`, 'invitations', (SELECT count(*) FROM `invitations` WHERE `account_id` = `accounts`.`id`), 1 FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`, `in_directory`) SELECT `id`, 'api_keys', (SELECT count(*) FROM `api_keys` WHERE `account_id` = `accounts`.`id`), 1 FROM `accounts`;
--> statement-breakpoint
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
-- An organization that has left the directory's database has a fence there for good: its limits of people stay in the directory.
DROP TRIGGER `fence_limit_of_quotas`;
--> statement-breakpoint
CREATE TRIGGER `fence_limit_of_quotas` BEFORE UPDATE OF `max` ON `quotas` WHEN old.`in_directory` = 0 AND EXISTS (SELECT 1 FROM `fences` WHERE `account_id` = old.`account_id`) BEGIN
  SELECT RAISE(ABORT, 'organization_is_fenced');
END;
