/** Says how what is seen gets here, and lets the person into the room to see it at once. */
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { useLive } from "./live.tsx";

export function JoinBar({ isClosed = false }: { readonly isClosed?: boolean }) {
  const { client, isJoining, join, leave } = useLive();
  if (client !== null) {
    return (
      <div className="join-bar live">
        <Icon name="live" />
        <p>You are in the room as a viewer: changes show at once, and you count as a participant.</p>
        <Button onClick={leave}>Leave</Button>
      </div>
    );
  }
  return (
    <div className="join-bar">
      <Icon name="live" />
      <p className="soft">Looked at every two seconds, without being there.</p>
      <Button isBusy={isJoining} disabled={isClosed} onClick={join}>
        Join and look
      </Button>
    </div>
  );
}
