/** A QR code as a picture. */
import { encode } from "uqr";

/** Readers need a light border of four modules. */
const QUIET_ZONE = 4;

interface QrCodeProps {
  readonly text: string;
  /** The accessible name. */
  readonly label: string;
}

export default function QrCode({ text, label }: QrCodeProps) {
  const { data, size } = encode(text, { border: QUIET_ZONE });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      {/* Readers need dark modules on a light ground, in both themes. */}
      <path d={`M0 0h${size}v${size}h-${size}z`} fill="white" />
      <path d={dark.join("")} fill="black" shapeRendering="crispEdges" />
    </svg>
  );
}
