--  SPDX-License-Identifier: Apache-2.0
--
--  The few calls of Linux that the servers are made of, as its manual pages have them.

private package Appserver.HTTP.Linux is

   procedure Close (File : Descriptor);

end Appserver.HTTP.Linux;
