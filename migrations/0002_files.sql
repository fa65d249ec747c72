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
CREATE INDEX `files_unsettled` ON `files` (`state`,`uploaded_at`) WHERE state <> 'stored';