/** The names in the audit log: kinds of resources, and of those who change them. */

export const AUDIT_RESOURCES = [
  "organization",
  "member",
  "invitation",
  "api_key",
  "tokens",
  "quotas",
  "webhook",
  "workflow",
  "room",
  "user",
  "identity",
  "group",
  "access",
  "link",
  "file",
] as const;
export type AuditResource = (typeof AUDIT_RESOURCES)[number];

export const AUDIT_ACTORS = ["person", "key", "operator", "service"] as const;
