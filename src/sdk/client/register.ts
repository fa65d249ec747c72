/** Where an application declares its own types once, for the hooks and for clients without type arguments. */

/**
 * Add your types to it, all of which are optional and described by {@link ClientTypes}:
 * `declare module "atrium/client" { interface Register { stores: typeof stores; presence: Shown; broadcasts: Sent } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications add to it
export interface Register {}
