CREATE TABLE `backlogs` (
	`account_id` text NOT NULL,
	`subscriber_id` text NOT NULL,
	`events` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `subscriber_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'waiting_events', 0 FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'waiting_bytes', 0 FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'backlogs', 0 FROM `accounts`;
--> statement-breakpoint
INSERT INTO `quotas` (`account_id`, `quota`, `used`) SELECT `id`, 'requests_per_second', 0 FROM `accounts`;
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
-- A fence refuses every write of what the organization owns here, whatever makes it: docs/decisions/0027.
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
