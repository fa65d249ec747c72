/** The page of an invitation link: join as the signed-in person, sign up or sign in. */

import type { InvitationPreview } from "@atrium/contract/rest/members.ts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useParams } from "wouter";
import { callDashboard, ME, useMe } from "../data/api.ts";
import { Button } from "../ui/button.tsx";
import { ErrorMessage, Loading } from "../ui/feedback.tsx";
import { useSignInSetup } from "./challenge.tsx";
import { SignInLayout } from "./credentials.tsx";
import { ProviderButton } from "./provider.tsx";
import { SignUpForm } from "./sign-up.tsx";

const invitedBy = ({ invited_by }: InvitationPreview): string =>
  invited_by === null ? "You are invited." : `${invited_by} invited you.`;

export default function Invitation() {
  const { token = "" } = useParams();
  const { me, isPending } = useMe();
  const invitation = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => callDashboard<InvitationPreview>("GET", `invitations/${encodeURIComponent(token)}`),
  });
  if (invitation.error) {
    return (
      <SignInLayout title="This invitation is no longer valid">
        <ErrorMessage error={invitation.error} />
        <p>Ask the person who sent it for a new one.</p>
      </SignInLayout>
    );
  }
  if (isPending || invitation.data === undefined) return <Loading />;
  return (
    <SignInLayout title={`Join ${invitation.data.organization.name}`}>
      <p className="soft">{invitedBy(invitation.data)}</p>
      {me === null ? <JoinAsNew token={token} /> : <JoinAs name={me.person.name} token={token} />}
    </SignInLayout>
  );
}

function JoinAs({ name, token }: { readonly name: string; readonly token: string }) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const accept = useMutation({
    mutationFn: () => callDashboard<object>("POST", `invitations/${encodeURIComponent(token)}/accept`, {}),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ME });
      go("/");
    },
  });
  return (
    <>
      <ErrorMessage error={accept.error} />
      <Button variant="primary" isBusy={accept.isPending} onClick={() => accept.mutate()}>
        Join as {name}
      </Button>
    </>
  );
}

function JoinAsNew({ token }: { readonly token: string }) {
  const { data: setup } = useSignInSetup();
  return (
    <>
      {setup?.passwords !== false && <SignUpForm invitation={token} />}
      <ProviderButton invitation={token} />
      <p className="soft">
        Already have an account?{" "}
        <Link href={`/sign-in?next=/dashboard/invitations/${encodeURIComponent(token)}`}>
          Sign in to join
        </Link>
      </p>
    </>
  );
}
