/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sentences that several rules need. Results are newly allocated; texts of the trace stand in them
 * as they are and are escaped when they are shown. Main thread only.
 */
#ifndef MW_FINDINGS_WORDS_H
#define MW_FINDINGS_WORDS_H

#include "analyzer/findings/crowd.h"

/* "a", "a, b" ...: appends to a list that may be NULL; takes both over. */
char *mw_list_add(char *list, const char *separator, char *item);

/* What MPI chose in a process: "PML ob1 with BTLs self,tcp", "PML cm with MTL ofi", "netmod ucx";
 * NULL where it is not known. */
char *mw_choice_words(const struct mw_finding_input *in, uint32_t process);
/* "Open MPI", "MPICH", "MPI". Static. */
const char *mw_mpi_word(const struct mw_finding_input *in, uint32_t process);

/* "libfabric provider cxi (domain cxi0)", "UCX". */
char *mw_fabric_words(const char *library, const char *provider, const char *domain);
/* "fi_enable returned -262 (Invalid resource domain)", "fi_enable had not returned" ... */
char *mw_failure_words(const struct mw_failure *failure);
/* "OMPI_MCA_pml=^ucx (/etc/openmpi/openmpi-mca-params.conf:75)". */
char *mw_setting_words(const struct mw_setting *setting, const struct mw_setting_variant *variant);
/* "by a file, not by your environment" and the like. Static. */
const char *mw_place_words(const struct mw_setting_place *place);

/* Did it end before the real MPI_Init returned? */
int mw_died_in_init(const struct mw_process *process);
/* "node1 pid 12 ended by exit with code 1 before MPI_Init returned". */
char *mw_init_end_words(const struct mw_model *model, uint32_t process);

/* Is a port or NIC in this state usable? States that nobody knows count as usable. */
int mw_state_up(const char *state);

#endif
