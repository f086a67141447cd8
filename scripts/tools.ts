/** `npm run tools [-- NAME…]` */
import "../provider/local-cluster/ensure-tools-main";
