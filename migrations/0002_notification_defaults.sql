CREATE TABLE `notification_defaults` (
	`account_id` text PRIMARY KEY NOT NULL,
	`defaults` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE cascade
);
