// SPDX-License-Identifier: Apache-2.0
package benchlab.appserver.retry.spring;

import benchlab.appserver.retry.Policies;
import benchlab.appserver.retry.RetryProxy;
import java.lang.reflect.Method;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.transaction.interceptor.BeanFactoryTransactionAttributeSourceAdvisor;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;

/** The beans of {@link EnableRetries}. */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(RetryConfiguration.Proxies.class)
class RetryConfiguration {

    /** Lets Spring create proxies of beans for advisors. */
    static final class Proxies implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(
                AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        }
    }

    /**
     * Moves the transaction advice between the two advices of this package, and makes the
     * transaction managers roll back failed commits. Otherwise Spring would switch autocommit on in
     * the open transaction, which commits it, and the retry would take effect twice.
     */
    static final class TransactionSettings implements BeanPostProcessor, PriorityOrdered {
        @Override
        public Object postProcessBeforeInitialization(Object bean, String name) {
            if (bean instanceof BeanFactoryTransactionAttributeSourceAdvisor advisor
                    && advisor.getOrder() == Ordered.LOWEST_PRECEDENCE) {
                advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 10);
            } else if (bean instanceof AbstractPlatformTransactionManager manager) {
                manager.setRollbackOnCommitFailure(true);
            }
            return bean;
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }

    /** Matches methods that are marked, or whose class is marked. */
    private static final class MarkedMethods extends StaticMethodMatcherPointcut {
        @Override
        public boolean matches(Method method, Class<?> target) {
            return RetryProxy.markOf(method, target) != null;
        }
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static TransactionSettings benchlabTransactionSettings() {
        return new TransactionSettings();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor benchlabRetryAdvisor(ObjectProvider<Policies> policies) {
        return advisor(new RetryAdvice(policies), EnableRetries.ORDER);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor benchlabAttemptAdvisor() {
        return advisor(new AttemptAdvice(), Ordered.LOWEST_PRECEDENCE);
    }

    private static Advisor advisor(Advice advice, int order) {
        var advisor = new DefaultPointcutAdvisor(new MarkedMethods(), advice);
        advisor.setOrder(order);
        return advisor;
    }
}
