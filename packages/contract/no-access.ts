/** Defined once for the service and for `atrium/offline`, which bundles it. */

/** The message of a FORBIDDEN for a user who has no access to a room, or not any more. */
export const NO_ACCESS = "You have no access to this room";
