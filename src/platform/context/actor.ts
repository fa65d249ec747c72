/** The actors that requests and runs act for, and their roles. Pure: schemas and tables use the roles. */

/** The roles of a room's users. */
export const ROLES = ["editor", "viewer"] as const;
type Role = (typeof ROLES)[number];

/** The roles of an organization's members. */
export const MEMBER_ROLES = ["owner", "member"] as const;
type MemberRole = (typeof MEMBER_ROLES)[number];

/** Who makes a request. */
export type Actor =
  /** The organization itself, with one of its API keys. */
  | { readonly type: "key"; readonly accountId: string; readonly keyId: string; readonly name: string }
  /** A member of the organization, with the dashboard's session cookie. */
  | {
      readonly type: "person";
      readonly accountId: string;
      readonly personId: string;
      readonly name: string;
      readonly role: MemberRole;
    }
  /** A user of a room, with its JWT. */
  | {
      readonly type: "user";
      readonly accountId: string;
      readonly userId: string;
      readonly roomId: string;
      readonly role: Role;
    }
  /** An unauthenticated caller of a public endpoint. */
  | { readonly type: "anyone"; readonly address: string };

/** What the events that the actor causes say of it: null unless a workflow's run acts. */
export const causeOf = (
  actor: Actor | WorkflowActor,
): { readonly workflowId: string; readonly depth: number } | null =>
  actor.type === "workflow" ? { workflowId: actor.workflowId, depth: actor.depth } : null;

/** A run of a workflow, which acts in the room of its event only. */
export interface WorkflowActor {
  readonly type: "workflow";
  readonly accountId: string;
  readonly workflowId: string;
  readonly roomId: string;
  /** The depth of the events that its actions cause. */
  readonly depth: number;
}
