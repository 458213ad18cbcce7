/** The view from the hotel, in the theme's own colours. */

const WINDOWS = [0, 1, 2].flatMap((row) => [0, 1, 2, 3, 4].map((column) => ({ row, column })));
const LIT = new Set(["0.1", "0.4", "1.2", "2.0", "2.3"]);

export const Harbour = () => (
  <svg
    class="harbour"
    viewBox="0 0 480 168"
    preserveAspectRatio="xMidYMax slice"
    aria-hidden="true"
  >
    <rect class="sky" width="480" height="168" />
    <circle class="sun" cx="286" cy="62" r="26" />
    <path class="far" d="M0 110 C60 78 96 96 140 84 S236 58 290 90 388 76 480 98 V168 H0z" />
    <path class="near" d="M0 122 C40 104 80 112 128 108 S190 118 236 124 H480 V168 H0z" />
    <g class="hotel" transform="translate(36)">
      <path d="M64 112 V62 h8 v-8 h56 v8 h8 v50z" />
      <path d="M98 54 V42 h2 v12z" />
      <path class="flag" d="M100 42 l14 4 -14 4z" />
      {WINDOWS.map(({ row, column }) => (
        <rect
          key={`${row}.${column}`}
          class={LIT.has(`${row}.${column}`) ? "window lit" : "window"}
          x={71.5 + column * 12}
          y={66 + row * 14}
          width="8"
          height="8"
          rx="1"
        />
      ))}
    </g>
    <g class="lighthouse" transform="translate(-34)">
      <path d="M399 124 l4 -52 h10 l4 52z" />
      <path class="stripe" d="M401.9 86 h12.2 l.8 11 h-13.8z M400.2 108 h15.6 l.8 11 h-17.2z" />
      <path d="M401 70 h14 v-3 h-2 v-9 l-5 -4 -5 4 v9 h-2z" />
      <rect class="lamp" x="405" y="60" width="6" height="7" rx="1" />
    </g>
    <rect class="water" y="122" width="480" height="46" />
    <g class="ripples">
      <path d="M268 132 h40 M276 140 h22 M262 150 h30 M286 158 h18" />
      <path d="M40 136 h26 M96 150 h40 M160 138 h18 M350 142 h34 M424 152 h30" />
    </g>
    <g class="boat">
      <path d="M196 132 h40 l-6 9 h-28z" />
      <path d="M215 130 V102 l18 26z M213 130 V108 l-12 20z" />
    </g>
  </svg>
);
