/** Signing in by a passkey: by a button, and beside the field for the address where the browser offers it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { askForPasskey, offerPasskeys, signInBy } from "../data/passkeys.ts";
import { Button } from "../ui/button.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";

export function PasskeySignIn({ onDone }: { readonly onDone: () => void }) {
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (offered: object | undefined) => {
      const credential = offered ?? (await askForPasskey());
      return credential === null ? null : signInBy(credential);
    },
    onSuccess: (signedIn) => {
      if (signedIn === null) return;
      queries.clear();
      onDone();
    },
  });
  useEffect(() => {
    // A browser asks for one passkey at a time. One that was refused is not offered again.
    if (isPending || error !== null) return;
    const left = new AbortController();
    // Without the offer, the button is left, and shows the error.
    offerPasskeys(left.signal).then((credential) => credential && mutate(credential), ignoreShown);
    return () => left.abort();
  }, [isPending, error, mutate]);
  return (
    <>
      <ErrorMessage error={error} />
      <Button isBusy={isPending} onClick={() => mutate(undefined)}>
        Sign in with a passkey
      </Button>
    </>
  );
}

const ignoreShown = () => {};
