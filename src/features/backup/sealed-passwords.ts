/** Encrypts the hashes of passwords in a backup: who reads it and not the secret of the deployment has nothing to guess at. */
import { type Sealer, sealerFor } from "../../platform/crypto/sealer.ts";

export const passwordSealer = (secrets: readonly [current: string, ...replaced: string[]]): Sealer =>
  sealerFor(secrets, "atrium passwords in backups");

/** A sealed hash is of no use for another person. */
export const placeOfPassword = (personId: string): readonly string[] => ["password", personId];
