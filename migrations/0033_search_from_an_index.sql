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
CREATE TRIGGER `search_after_insert_of_rooms` AFTER INSERT ON `rooms` WHEN EXISTS (SELECT 1 FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed') BEGIN
  INSERT INTO `search_items` (`doc`, `list`, `item`, `name`) SELECT 1 + coalesce((SELECT max(`doc`) FROM `search_items` WHERE `doc` BETWEEN `number` << 40 AND ((`number` + 1) << 40) - 1), `number` << 40), `number`, new.`id`, new.`name_folded` FROM `search_lists` WHERE `account_id` = new.`account_id` AND `room_id` = '' AND `state` <> 'removed';
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
INSERT INTO `search_lists` (`account_id`, `room_id`, `state`) SELECT `account_id`, '', 'building' FROM `quotas` WHERE `quota` = 'rooms' AND `used` > 10000;
--> statement-breakpoint
INSERT INTO `search_lists` (`account_id`, `room_id`, `state`) SELECT `account_id`, `id`, 'building' FROM `rooms` WHERE `user_count` > 10000;
