/** Who acts, and the roles that actors can have. */

/** The roles of a room's users. */
export const ROLES = ["editor", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The roles of an organization's members. */
export const MEMBER_ROLES = ["owner", "member"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Who makes a request. */
export type Actor =
  /** The organization itself, by one of its API keys. */
  | { readonly type: "key"; readonly accountId: string; readonly keyId: string }
  /** A member of the organization, by the dashboard's session cookie. */
  | {
      readonly type: "person";
      readonly accountId: string;
      readonly personId: string;
      readonly role: MemberRole;
    }
  /** One user of one room, by its JWT. */
  | {
      readonly type: "user";
      readonly accountId: string;
      readonly userId: string;
      readonly roomId: string;
      readonly role: Role;
    }
  /** An unknown caller: only public endpoints see this one. */
  | { readonly type: "anyone"; readonly address: string };

/** A run of a workflow: it acts in one room, that of its event. */
export interface WorkflowActor {
  readonly type: "workflow";
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
}
