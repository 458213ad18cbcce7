/** The few symbols of the screen. Each stands beside a text or in a labelled button. */

import type { ComponentChildren } from "preact";

const icon = (paths: ComponentChildren) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    {paths}
  </svg>
);

export const PhoneIcon = () =>
  icon(
    <path d="M6.6 10.8a15 15 0 0 0 6.6 6.6l2.2-2.2a1 1 0 0 1 1-.25c1.1.37 2.3.57 3.6.57a1 1 0 0 1 1 1V20a1 1 0 0 1-1 1A17 17 0 0 1 3 4a1 1 0 0 1 1-1h3.5a1 1 0 0 1 1 1c0 1.25.2 2.45.57 3.57a1 1 0 0 1-.25 1z" />,
  );

export const HangUpIcon = () =>
  icon(
    <path d="M12 9c-1.6 0-3.15.25-4.6.72v3.1a1 1 0 0 1-.56.9c-.98.49-1.87 1.12-2.66 1.85a1 1 0 0 1-1.4-.02L.3 13.08a1 1 0 0 1 0-1.42A16.6 16.6 0 0 1 12 7c4.54 0 8.67 1.78 11.71 4.67a1 1 0 0 1 0 1.41l-2.48 2.48a1 1 0 0 1-1.4.01 11.3 11.3 0 0 0-2.67-1.85 1 1 0 0 1-.56-.9v-3.1A15.2 15.2 0 0 0 12 9z" />,
  );

export const MicrophoneIcon = () =>
  icon(
    <>
      <path d="M12 15a3.5 3.5 0 0 0 3.5-3.500V6a3.5 3.5 0 0 0-7 0v5.500A3.5 3.5 0 0 0 12 15z" />
      <path d="M18.5 11a1 1 0 0 0-1 1 5.5 5.5 0 0 1-11 0 1 1 0 0 0-2 0 7.5 7.5 0 0 0 6.5 7.430V21a1 1 0 0 0 2 0v-1.570A7.5 7.5 0 0 0 19.5 12a1 1 0 0 0-1-1z" />
    </>,
  );

export const MutedIcon = () =>
  icon(
    <>
      <path d="M15.5 11.500V6a3.5 3.5 0 0 0-6.7-1.400l6.6 7.300zM8.5 9.800v1.700a3.5 3.5 0 0 0 4.9 3.200z" />
      <path d="M18.5 11a1 1 0 0 0-1 1c0 .7-.13 1.370-.37 1.980l1.5 1.660c.56-1.080.87-2.320.87-3.640a1 1 0 0 0-1-1zM14.7 16.800A5.5 5.5 0 0 1 6.5 12a1 1 0 0 0-2 0 7.5 7.5 0 0 0 6.5 7.430V21a1 1 0 0 0 2 0v-1.570a7.4 7.4 0 0 0 3.130-1.070z" />
      <path d="M4 2.6 21.4 21.800l-1.480 1.340L2.520 3.940z" />
    </>,
  );

export const SendIcon = () =>
  icon(
    <path d="M3.4 20.4 21 12.900a1 1 0 0 0 0-1.800L3.4 3.600A.8.8 0 0 0 2.3 4.500L4 11l9 1-9 1-1.7 6.500a.8.8 0 0 0 1.1.9z" />,
  );

export const WarningIcon = () =>
  icon(
    <path d="M12 2.800a1.5 1.5 0 0 1 1.3.75l8.9 15.400a1.5 1.5 0 0 1-1.3 2.250H3.100a1.5 1.5 0 0 1-1.3-2.250l8.9-15.400A1.5 1.5 0 0 1 12 2.800zm0 5.700a1 1 0 0 0-1 1v4.500a1 1 0 0 0 2 0V9.500a1 1 0 0 0-1-1zm0 7.500a1.250 1.250 0 1 0 0 2.5 1.250 1.250 0 0 0 0-2.500z" />,
  );

export const PlayIcon = () =>
  icon(
    <path d="M8 5.500v13a1 1 0 0 0 1.520.850l10.500-6.500a1 1 0 0 0 0-1.700L9.520 4.650A1 1 0 0 0 8 5.500z" />,
  );

export const PauseIcon = () => icon(<path d="M7 5h3.500v14H7zM13.500 5H17v14h-3.500z" />);

export const NextIcon = () =>
  icon(
    <path d="M5 6.200v11.600a.8.8 0 0 0 1.250.650L15 12.650V18h2.500V6H15v5.350L6.250 5.550A.8.8 0 0 0 5 6.200z" />,
  );

export const PreviousIcon = () =>
  icon(
    <path d="M19 6.200v11.600a.8.8 0 0 1-1.250.650L9 12.650V18H6.500V6H9v5.350l8.750-5.800A.8.8 0 0 1 19 6.200z" />,
  );

export const DevicesIcon = () =>
  icon(
    <path d="M4 7h9.2a3 3 0 0 0 5.6 0H20a1 1 0 0 0 0-2h-1.2a3 3 0 0 0-5.6 0H4a1 1 0 0 0 0 2zm16 10h-9.2a3 3 0 0 0-5.6 0H4a1 1 0 0 0 0 2h1.2a3 3 0 0 0 5.6 0H20a1 1 0 0 0 0-2zm0-6H4a1 1 0 0 0 0 2h16a1 1 0 0 0 0-2z" />,
  );
