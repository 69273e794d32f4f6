// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network device without hardware, for one queue discipline of the kernel's.
 *
 * The transmitter is a program's: it says that a packet comes (which the device sends through its discipline, as
 * any other device does) and when it could transmit one.  The device's queue is stopped until then, so that packets
 * wait in the discipline and nowhere else.  What becomes of each packet is noted: it was given to the transmitter,
 * or it was dropped.
 *
 * `ip link add type ccperf` makes a device; the program finds it as /proc/ccperf/NAME, with one ioctl and poll.
 */
#include <linux/if_arp.h>
#include <linux/ip.h>
#include <linux/kfifo.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/ip.h>
#include <net/pkt_sched.h>
#include <net/route.h>
#include <net/rtnetlink.h>

/* Before Linux 7, disciplines give no reasons of their own. */
#if __has_include(<net/dropreason-qdisc.h>)
#include <net/dropreason-qdisc.h>
#define HAS_REASONS 1
#endif

#define SEEN_HEADERS 128
#define NOTES_OF_A_CALL 64
/* What a discipline may do to packets between two calls. */
#define NOTES_HELD 16384

enum fate {
	GIVEN = 1,
	/* A packet that has been given already, once more: netem duplicates. */
	GIVEN_AGAIN = 2,
	DROPPED = 3,
};

/* Why a packet was dropped, in numbers that do not change from version to version. */
enum reason {
	UNKNOWN,
	OVERLIMIT,
	CONGESTED,
	MAXFLOWS,
	FLOOD_PROTECTION,
	BAND_LIMIT,
	HORIZON_LIMIT,
	FLOW_LIMIT,
	L4S_STEP_NON_ECN,
};

struct note {
	u32 packet;
	u8 fate;
	/* Type of service, with the mark. */
	u8 service;
	u8 reason;
	u8 unused;
};

/* The argument of the ioctl. */
struct call {
	/* A packet comes: its number, its length with all headers (0: none comes), and how many bytes of it are here. */
	u32 packet;
	u16 length;
	u16 held;
	/* The transmitter is free. */
	u32 is_free;
	/* What is answered: how many notes, and the time. */
	u32 notes;
	u64 now;
	u8 headers[SEEN_HEADERS];
	struct note note[NOTES_OF_A_CALL];
};

#define CCPERF_CALL _IOWR('c', 1, struct call)

struct port {
	struct net_device *device;
	wait_queue_head_t reader;
	spinlock_t lock;
	bool is_overrun;
	DECLARE_KFIFO(notes, struct note, NOTES_HELD);
};

/* What goes with a packet, its copies included. */
struct label {
	struct ubuf_info ubuf;
	struct port *port;
	u32 packet;
	bool is_given;
};

static struct proc_dir_entry *folder;

static void note(struct port *port, struct note what)
{
	if (!kfifo_in_spinlocked(&port->notes, &what, 1, &port->lock))
		port->is_overrun = true;
	wake_up_interruptible(&port->reader);
}

static u8 reason_of(const struct sk_buff *skb)
{
#ifdef HAS_REASONS
	switch (skb ? tcf_get_qdisc_drop_reason(skb) : QDISC_DROP_UNSPEC) {
	case QDISC_DROP_OVERLIMIT:
		return OVERLIMIT;
	case QDISC_DROP_CONGESTED:
		return CONGESTED;
	case QDISC_DROP_MAXFLOWS:
		return MAXFLOWS;
	case QDISC_DROP_FLOOD_PROTECTION:
		return FLOOD_PROTECTION;
	case QDISC_DROP_BAND_LIMIT:
		return BAND_LIMIT;
	case QDISC_DROP_HORIZON_LIMIT:
		return HORIZON_LIMIT;
	case QDISC_DROP_FLOW_LIMIT:
		return FLOW_LIMIT;
	case QDISC_DROP_L4S_STEP_NON_ECN:
		return L4S_STEP_NON_ECN;
	default:
		break;
	}
#endif
	return UNKNOWN;
}

/* The last of a packet and its copies is freed: whatever was not given has been dropped. */
static void on_freed(struct sk_buff *skb, struct ubuf_info *ubuf, bool is_sent)
{
	struct label *label = container_of(ubuf, struct label, ubuf);

	if (!label->is_given)
		note(label->port, (struct note){
			.packet = label->packet, .fate = DROPPED, .reason = reason_of(skb),
		});
	kfree(label);
}

static const struct ubuf_info_ops label_ops = { .complete = on_freed };

static netdev_tx_t port_start_xmit(struct sk_buff *skb, struct net_device *device)
{
	struct ubuf_info *ubuf = skb_zcopy(skb);

	/* What the kernel itself sends is nobody's here. */
	if (ubuf && ubuf->ops == &label_ops) {
		struct label *label = container_of(ubuf, struct label, ubuf);

		note(label->port, (struct note){
			.packet = label->packet,
			.fate = label->is_given ? GIVEN_AGAIN : GIVEN,
			.service = ip_hdr(skb)->tos,
		});
		label->is_given = true;
		netif_stop_queue(device);
	}
	consume_skb(skb);
	return NETDEV_TX_OK;
}

static int send(struct port *port, const struct call *call)
{
	struct net_device *device = port->device;
	struct sk_buff *skb;
	struct label *label;

	if (call->held < sizeof(struct iphdr) || call->held > SEEN_HEADERS || call->held > call->length)
		return -EINVAL;
	skb = alloc_skb(call->length, GFP_KERNEL);
	label = kzalloc(sizeof(*label), GFP_KERNEL);
	if (!skb || !label) {
		kfree_skb(skb);
		kfree(label);
		return -ENOMEM;
	}
	label->ubuf.ops = &label_ops;
	label->ubuf.flags = SKBFL_ZEROCOPY_ENABLE | SKBFL_DONT_ORPHAN;
	refcount_set(&label->ubuf.refcnt, 1);
	label->port = port;
	label->packet = call->packet;
	memcpy(skb_put(skb, call->length), call->headers, call->held);
	skb_zcopy_init(skb, &label->ubuf);
	skb->dev = device;
	skb->protocol = htons(ETH_P_IP);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_hdrlen(skb));
	/* As for a packet that is forwarded. */
	skb->priority = rt_tos2priority(ip_hdr(skb)->tos);

	/* The discipline sees each packet, also one that could pass it because it is empty. */
	rcu_read_lock();
	rcu_dereference(netdev_get_tx_queue(device, 0)->qdisc)->flags &= ~TCQ_F_CAN_BYPASS;
	rcu_read_unlock();
	/* Whether it is dropped is noted. */
	dev_queue_xmit(skb);
	return 0;
}

/* The head of a call, before its notes. */
#define HEAD offsetof(struct call, note)

static long port_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct port *port = pde_data(file_inode(file));
	struct call __user *user = (struct call __user *)argument;
	struct call call;
	int error;

	if (command != CCPERF_CALL)
		return -ENOTTY;
	if (copy_from_user(&call, user, HEAD))
		return -EFAULT;
	if (call.length) {
		error = send(port, &call);
		if (error)
			return error;
	}
	if (call.is_free) {
		local_bh_disable();
		netif_wake_queue(port->device);
		local_bh_enable();
	}
	if (port->is_overrun)
		return -EOVERFLOW;
	call.notes = kfifo_out_spinlocked(&port->notes, call.note, NOTES_OF_A_CALL, &port->lock);
	call.now = ktime_get_ns();
	if (copy_to_user(user, &call, HEAD + call.notes * sizeof(struct note)))
		return -EFAULT;
	return 0;
}

static __poll_t port_poll(struct file *file, poll_table *table)
{
	struct port *port = pde_data(file_inode(file));

	poll_wait(file, &port->reader, table);
	return kfifo_is_empty(&port->notes) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static const struct proc_ops file_ops = {
	.proc_ioctl = port_ioctl,
	.proc_poll = port_poll,
};

static int port_init(struct net_device *device)
{
	struct port *port = netdev_priv(device);

	port->device = device;
	init_waitqueue_head(&port->reader);
	spin_lock_init(&port->lock);
	INIT_KFIFO(port->notes);
	return proc_create_data(device->name, 0600, folder, &file_ops, port) ? 0 : -ENOMEM;
}

static void port_uninit(struct net_device *device)
{
	remove_proc_entry(device->name, folder);
}

/* Nobody can send until the program says so. */
static int port_open(struct net_device *device)
{
	netif_stop_queue(device);
	return 0;
}

static const struct net_device_ops port_ops = {
	.ndo_init = port_init,
	.ndo_uninit = port_uninit,
	.ndo_open = port_open,
	.ndo_start_xmit = port_start_xmit,
};

static void port_setup(struct net_device *device)
{
	device->netdev_ops = &port_ops;
	device->needs_free_netdev = true;
	device->type = ARPHRD_NONE;
	device->flags = IFF_POINTOPOINT | IFF_NOARP;
	device->mtu = ETH_DATA_LEN;
	device->min_mtu = ETH_MIN_MTU;
	device->max_mtu = ETH_MAX_MTU;
	device->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
}

static struct rtnl_link_ops link_ops = {
	.kind = "ccperf",
	.priv_size = sizeof(struct port),
	.setup = port_setup,
};

static int __init ccperf_port_init(void)
{
	int error;

	folder = proc_mkdir("ccperf", NULL);
	if (!folder)
		return -ENOMEM;
	error = rtnl_link_register(&link_ops);
	if (error)
		proc_remove(folder);
	return error;
}

static void __exit ccperf_port_exit(void)
{
	rtnl_link_unregister(&link_ops);
	proc_remove(folder);
}

module_init(ccperf_port_init);
module_exit(ccperf_port_exit);
MODULE_DESCRIPTION("a device whose transmitter is a program's");
MODULE_LICENSE("GPL");
