/** The button that signs people in by the company's provider, where there is one. */
import { useMutation } from "@tanstack/react-query";
import { callDashboard } from "../data/api.ts";
import { Button } from "../ui/button.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { useSignInSetup } from "./challenge.tsx";

interface ProviderButtonProps {
  /** The page of the dashboard to show then. */
  readonly next?: string;
  /** The token of an invitation. */
  readonly invitation?: string;
}

/** The answer of the endpoints that begin something at the provider: its address for the browser. */
export interface ProviderStart {
  readonly url: string;
}

export function ProviderButton(body: ProviderButtonProps) {
  const { data } = useSignInSetup();
  const start = useMutation({
    mutationFn: () => callDashboard<ProviderStart>("POST", "oidc/start", body),
    onSuccess: ({ url }) => location.assign(url),
  });
  if (!data?.oidc) return null;
  return (
    <>
      <ErrorMessage error={start.error} />
      <Button
        variant={data.passwords ? "plain" : "primary"}
        isBusy={start.isPending}
        onClick={() => start.mutate()}
      >
        Sign in with {data.oidc.name}
      </Button>
    </>
  );
}
