/** `npm run clusters -- up|down|list|kubeconfig|import …` */
import "../provider/local-cluster/cli";
